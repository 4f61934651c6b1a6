#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/dispatcher/registry/registration_lock.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/error.h>

#include <utility>

namespace boxcar {
namespace {

DispatchKeySet functionalitiesOf(DispatchKeySet keys) {
  return {DispatchKeySet::RAW, keys.raw_repr() & ~full_backend_mask};
}

// Returns the key of [functionality] for a call whose arguments are on [backends].
DispatchKey runtimeKeyOf(DispatchKey functionality, DispatchKeySet backends) {
  return detail::runtimeKeyOf(DispatchKeySet(functionality) | (backends & backend_bitset_mask));
}

// Where a call with certain keys stops.
struct FoundStop {
  DispatchKeySet keys;            // that it is dispatched on
  std::vector<PassedKey> passed;  // above the chosen key, highest first
  DispatchKey chosen = DispatchKey::Undefined;
  TableEntry table_entry;
};

TableEntry entryAt(const OperatorHandle& op, DispatchKey key) {
  return Dispatcher::singleton().computeTableEntry(op, key);
}

FoundStop findStop(const OperatorHandle& op, DispatchKeySet present, DispatchKeySet excluded) {
  FoundStop found{(present - excluded) & op.entry().dispatchKeyExtractor().nonFallthroughKeys(), {}, {}, {}};
  const auto pass = [&](DispatchKey functionality) {
    const DispatchKey key = runtimeKeyOf(functionality, present);
    found.passed.push_back({key, excluded.has_any(DispatchKeySet(functionality)), entryAt(op, key)});
  };
  for (DispatchKeySet left = functionalitiesOf(present); !left.empty();) {
    const DispatchKey functionality = left.highestFunctionalityKey();
    left = left.remove(functionality);
    if (!found.keys.has_any(DispatchKeySet(functionality))) {
      pass(functionality);
      continue;
    }
    // One backend's table entry may let the call through although others do not.
    const DispatchKey key = runtimeKeyOf(functionality, present);
    found.table_entry = entryAt(op, key);
    if (found.table_entry.kernel->isFallthrough()) {
      pass(functionality);
      continue;
    }
    found.chosen = key;
    return found;
  }
  found.table_entry = entryAt(op, DispatchKey::Undefined);
  return found;
}

DispatchKeySet mergedKeys(std::span<const ArgumentKeys> arguments) {
  DispatchKeySet merged;
  for (const ArgumentKeys& argument : arguments) merged |= argument.keys;
  return merged;
}

// Says what happens at the level that the call has reached, and changes [call] into the call below.
void describe(LevelCall& call) {
  describeLevel(call);
  if (!call.effect.empty()) return;
  // A kernel that nobody describes, or modes: where the call gets if they pass it on.
  const bool may_go_on =
      call.entry.kernel->kind == KernelKind::Function || call.entry.kernel->kind == KernelKind::Modes;
  const bool ends = !may_go_on || call.key == DispatchKey::Undefined || isBackendDispatchKey(call.key) ||
                    (call.below & (DispatchKeySet(DispatchKey::Dense) | backend_bitset_mask)).empty();
  call.next = ends ? LevelCall::Next::kEnd : LevelCall::Next::kBelow;
}

// More levels than any call has, unless it goes round in circles.
constexpr size_t kMostLevels = 32;

// Follows the call from the level that it has reached.
std::vector<ExplainedLevel> followDown(LevelCall call, const LocalDispatchKeySet& local) {
  std::vector<ExplainedLevel> levels;
  DispatchKeySet excluded = local.excluded_;
  while (true) {
    ExplainedLevel level{call.op.operator_name(), call.key, call.entry, {}, {}, {}};
    describe(call);
    level.effect = call.effect;
    level.next = call.next;
    excluded |= call.excluded;
    const bool is_anew = call.next == LevelCall::Next::kAnew;
    const bool is_last = !is_anew && call.next != LevelCall::Next::kBelow;
    if (is_last || levels.size() + 1 == kMostLevels) {
      levels.push_back(std::move(level));
      return levels;
    }
    const DispatchKeySet present = is_anew ? mergedKeys(call.arguments) | local.included_ : call.below;
    const FoundStop found = findStop(call.op, present, is_anew ? excluded : DispatchKeySet());
    level.below = found.keys;
    levels.push_back(std::move(level));
    call = LevelCall(call.op, found.chosen, found.table_entry, found.keys, std::move(call.arguments));
  }
}

DispatchExplanation explain(const OperatorHandle& op, std::vector<ArgumentKeys> arguments) {
  // Locked, so that all table entries are from the same moment.
  const detail::RegistrationLock lock(detail::registrationMutex());
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
                             {},
                             op.entry().listKernelKeys(),
                             op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)};
  result.merged = mergedKeys(result.arguments);
  const DispatchKeySet mask = op.entry().dispatchKeyExtractor().nonFallthroughKeys();
  const DispatchKeySet present = result.merged | result.included;

  for (uint16_t number = num_functionality_keys; --number > 0;) {
    const auto functionality = static_cast<DispatchKey>(number);
    if (mask.has_any(DispatchKeySet(functionality))) continue;
    const DispatchKey key = runtimeKeyOf(functionality, present);
    result.lets_through.push_back({key, false, entryAt(op, key)});
  }

  FoundStop found = findStop(op, present, result.excluded);
  result.keys = found.keys;
  result.passed = std::move(found.passed);
  result.chosen = found.chosen;
  result.table_entry = found.table_entry;
  result.levels = followDown(LevelCall(op, found.chosen, found.table_entry, found.keys, result.arguments), local);
  return result;
}

}  // namespace

DispatchExplanation explainDispatch(const OperatorHandle& op, std::span<const DispatchKeySet> keys) {
  std::vector<ArgumentKeys> arguments = dispatchArgumentsOf(op.schema());
  BOXCAR_CHECK(keys.size() == arguments.size(),
               "{} is dispatched on {} of its arguments, but the keys of {} were given; give one set for each: {}",
               op.operator_name(), arguments.size(), keys.size(), op.schema());
  for (size_t i = 0; i < keys.size(); ++i) arguments[i].keys = keys[i];
  return explain(op, std::move(arguments));
}

DispatchExplanation explainDispatch(const OperatorHandle& op, std::vector<ArgumentKeys> arguments) {
  return explain(op, std::move(arguments));
}

DispatchExplanation explainDispatch(const OperatorHandle& op, const Stack& stack) {
  const FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  BOXCAR_CHECK(stack.size() >= count,
               "the dispatch of {} cannot be explained: it takes {} arguments, but the stack holds {} values",
               op.operator_name(), count, stack.size());
  return explain(op, dispatchArgumentsOf(schema, std::span<const IValue>(stack.end() - count, stack.end())));
}

}  // namespace boxcar
