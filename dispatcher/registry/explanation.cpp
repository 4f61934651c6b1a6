#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/dispatcher/registry/registration_lock.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

namespace boxcar {
namespace {

DispatchKeySet functionalitiesOf(DispatchKeySet keys) {
  return {DispatchKeySet::RAW, keys.raw_repr() & ~full_backend_mask};
}

// Returns the key of [functionality] for a call whose arguments are on [backends].
DispatchKey runtimeKeyOf(DispatchKey functionality, DispatchKeySet backends) {
  return detail::runtimeKeyOf(DispatchKeySet(functionality) | (backends & backend_bitset_mask));
}

DispatchExplanation explain(const OperatorHandle& op, std::vector<ArgumentKeys> arguments) {
  // Locked, so that all table entries are from the same moment.
  const detail::RegistrationLock lock(detail::registrationMutex());
  const auto entryOf = [&](DispatchKey key) { return Dispatcher::singleton().computeTableEntry(op, key); };
  const LocalDispatchKeySet local = tls_local_dispatch_key_set();
  DispatchExplanation result{op.schema(),
                             std::move(arguments),
                             {},
                             local.included_,
                             local.excluded_,
                             {},
                             {},
                             {},
                             DispatchKey::Undefined,
                             entryOf(DispatchKey::Undefined),
                             op.entry().listKernelKeys(),
                             op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)};
  for (const ArgumentKeys& argument : result.arguments) result.merged |= argument.keys;
  const DispatchKeySet mask = op.entry().dispatchKeyExtractor().nonFallthroughKeys();
  const DispatchKeySet present = result.merged | result.included;
  result.keys = (present - result.excluded) & mask;

  for (uint16_t number = num_functionality_keys; --number > 0;) {
    const auto functionality = static_cast<DispatchKey>(number);
    if (mask.has_any(DispatchKeySet(functionality))) continue;
    const DispatchKey key = runtimeKeyOf(functionality, present);
    result.lets_through.push_back({key, false, entryOf(key)});
  }

  const auto pass = [&](DispatchKey functionality) {
    const DispatchKey key = runtimeKeyOf(functionality, present);
    result.passed.push_back({key, result.excluded.has_any(DispatchKeySet(functionality)), entryOf(key)});
  };
  for (DispatchKeySet left = functionalitiesOf(present); !left.empty();) {
    const DispatchKey functionality = left.highestFunctionalityKey();
    left = left.remove(functionality);
    if (!result.keys.has_any(DispatchKeySet(functionality))) {
      pass(functionality);
      continue;
    }
    // One backend's table entry may let the call through although others do not.
    const DispatchKey key = runtimeKeyOf(functionality, present);
    result.table_entry = entryOf(key);
    if (result.table_entry.kernel->isFallthrough()) {
      pass(functionality);
      continue;
    }
    result.chosen = key;
    return result;
  }
  result.table_entry = entryOf(DispatchKey::Undefined);
  return result;
}

}  // namespace

std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema) {
  std::vector<ArgumentKeys> found;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    if (detail::listDepthOf(argument.type()) >= 0) found.push_back({argument.name(), i, argument.type(), {}});
  }
  return found;
}

DispatchExplanation explainDispatch(const OperatorHandle& op, std::span<const DispatchKeySet> keys) {
  std::vector<ArgumentKeys> arguments = dispatchArgumentsOf(op.schema());
  BOXCAR_CHECK(keys.size() == arguments.size(),
               "{} is dispatched on {} of its arguments, but the keys of {} were given; give one set for each: {}",
               op.operator_name(), arguments.size(), keys.size(), op.schema());
  for (size_t i = 0; i < keys.size(); ++i) arguments[i].keys = keys[i];
  return explain(op, std::move(arguments));
}

DispatchExplanation explainDispatch(const OperatorHandle& op, const Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  BOXCAR_CHECK(stack.size() >= count,
               "the dispatch of {} cannot be explained: it takes {} arguments, but the stack holds {} values",
               op.operator_name(), count, stack.size());
  std::vector<ArgumentKeys> arguments = dispatchArgumentsOf(schema);
  for (ArgumentKeys& argument : arguments) {
    argument.keys = detail::keysOfValue(peek(stack, argument.index, count), detail::listDepthOf(argument.type));
  }
  return explain(op, std::move(arguments));
}

}  // namespace boxcar
