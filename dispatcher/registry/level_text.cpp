#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/level_text.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/value_tensors.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace boxcar {
namespace {

// One for each functionality: programs that never ask pay a page of zeros at most.
constinit std::array<std::atomic<LevelDescriber>, num_functionality_keys> describers{};

LevelDescriber describerOf(DispatchKey key) noexcept {
  return describers[static_cast<size_t>(toFunctionalityKey(key))].load(std::memory_order_acquire);
}

std::vector<ScalarType> dtypesOf(const IValue& value) {
  std::vector<ScalarType> found;
  visitTensors(value, [&](const Tensor& tensor) {
    if (!tensor.defined() || std::ranges::find(found, tensor.scalar_type()) != found.end()) return;
    found.push_back(tensor.scalar_type());
  });
  return found;
}

}  // namespace

LevelCall::LevelCall(const OperatorHandle& called, DispatchKey at, TableEntry found, DispatchKeySet with,
                     std::vector<ArgumentKeys> given)
    : op(called),
      key(at),
      entry(found),
      keys(with),
      arguments(std::move(given)),
      below(with & DispatchKeySet(DispatchKeySet::FULL_AFTER, toFunctionalityKey(at))) {}

void LevelCall::goOnAs(const OperatorHandle& other) {
  std::vector<ArgumentKeys> taken = dispatchArgumentsOf(other.schema());
  for (ArgumentKeys& argument : taken) {
    const auto same = std::ranges::find(arguments, argument.name, &ArgumentKeys::name);
    if (same == arguments.end()) continue;
    const ArgumentKeys place = argument;
    argument = std::move(*same);
    argument.index = place.index;
    argument.type = place.type;
  }
  op = other;
  arguments = std::move(taken);
}

void setLevelDescriber(DispatchKey functionality, LevelDescriber describer) noexcept {
  describers[static_cast<size_t>(functionality)].store(describer, std::memory_order_release);
}

bool hasLevelDescriber(DispatchKey key) noexcept { return describerOf(key) != nullptr; }

void describeLevel(LevelCall& call) {
  const bool is_made_of_others =
      call.entry.cause == EntryCause::Alias && call.entry.key == DispatchKey::CompositeImplicitAutograd;
  if (is_made_of_others && call.entry.kernel->kind == KernelKind::Function) {
    call.effect = "is made of other operators";
    call.next = LevelCall::Next::kParts;
    return;
  }
  if (const LevelDescriber describe = describerOf(call.key)) describe(call);
}

void setValue(ArgumentKeys& argument, IValue value) {
  argument.keys = detail::keysOfValue(value, detail::listDepthOf(argument.type));
  argument.dtypes = dtypesOf(value);
  argument.value = std::move(value);
}

std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema) {
  std::vector<ArgumentKeys> found;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const Argument& argument = schema.arguments()[i];
    if (detail::listDepthOf(argument.type()) >= 0) found.push_back({argument.name(), i, argument.type(), {}});
  }
  return found;
}

std::vector<ArgumentKeys> dispatchArgumentsOf(const FunctionSchema& schema, std::span<const IValue> values) {
  std::vector<ArgumentKeys> found = dispatchArgumentsOf(schema);
  for (ArgumentKeys& argument : found) setValue(argument, values[argument.index]);
  return found;
}

std::string effectAt(const OperatorHandle& op, DispatchKey key, DispatchKeySet keys, std::span<const IValue> values) {
  if (!op.hasSchema() || values.size() != op.schema().arguments().size()) return {};
  try {
    LevelCall call(op, key, Dispatcher::singleton().computeTableEntry(op, key), keys,
                   dispatchArgumentsOf(op.schema(), values));
    describeLevel(call);
    return std::move(call.effect);
  } catch (const Error&) {
    return {};  // which the call throws, too
  }
}

std::string enumerated(std::span<const std::string> words) {
  if (words.size() < 2) return words.empty() ? std::string() : words[0];
  return fmt::format("{} and {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

}  // namespace boxcar
