#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/registry/cpu_fallback_rules.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/dispatcher/registry/missing_kernel.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace boxcar {
namespace {

using Key = DispatchKey;
using Arguments = std::vector<ArgumentKeys>;

// A call that found no kernel.
struct Call {
  const OperatorHandle& op;
  Key key;
  Arguments arguments;
  // The argument that names a device of the key, if any: factories choose the key by it.
  std::optional<size_t> device;
  // Whether the call concerns a script: remedies are then given in the script language.
  bool is_of_a_script;
};

bool isOfAScript(const OperatorHandle& op) {
  return op.entry().schemaSite().is_script || currentCallSite().has_value();
}

// Returns the keys that each argument brings; empty if the stack no longer holds the arguments.
Arguments readArguments(const OperatorHandle& op, const Stack& stack) {
  const size_t count = op.schema().arguments().size();
  if (stack.size() < count) return {};
  Arguments arguments = dispatchArgumentsOf(op.schema());
  for (ArgumentKeys& argument : arguments)
    argument.keys = detail::keysOfValue(peek(stack, argument.index, count), detail::listDepthOf(argument.type));
  return arguments;
}

std::optional<size_t> findDevice(const OperatorHandle& op, Key key, const Stack& stack) {
  const size_t count = op.schema().arguments().size();
  for (size_t i = 0; stack.size() >= count && i < count; ++i) {
    const IValue& value = peek(stack, i, count);
    if (value.isDevice() && toDispatchKey(value.toDevice().type()) == key) return i;
  }
  return std::nullopt;
}

// ", which argument 'self' (position 1) brought".
std::string whoBrought(const Call& call) {
  for (const ArgumentKeys& argument : call.arguments) {
    if (argument.keys.has(call.key))
      return fmt::format(", which argument '{}' (position {}) brought", argument.name, argument.index + 1);
  }
  if (call.device.has_value())
    return fmt::format(", which argument '{}' (position {}) names", call.op.schema().arguments()[*call.device].name(),
                       *call.device + 1);
  return tls_is_dispatch_key_included(call.key) ? ", which this thread includes" : "";
}

// " The arguments bring: 'a' CPU; 'b' CUDA.", with only the keys that the operator considers; "" if fewer than two
// arguments bring any, because a single one was already named.
std::string whatArgumentsBring(const Call& call) {
  const DispatchKeySet mask = call.op.entry().dispatchKeyExtractor().nonFallthroughKeys();
  std::vector<std::string> each;
  for (const ArgumentKeys& argument : call.arguments) {
    const DispatchKeySet keys = argument.keys & mask;
    if (keys.begin() != keys.end()) each.push_back(fmt::format("'{}' {}", argument.name, listKeys(keys)));
  }
  return each.size() < 2 ? "" : fmt::format(" The arguments bring: {}.", fmt::join(each, "; "));
}

// Whether a registered kernel runs for dense tensors of [backend]. A fallback, which serves every operator, does not
// count.
bool answersOn(const OperatorHandle& op, BackendComponent backend) {
  const Key key = toRuntimePerBackendFunctionalityKey(Key::Dense, backend);
  const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(op, key);
  return table_entry.kernel->kind == KernelKind::Function && table_entry.cause != EntryCause::Fallback;
}

// Returns the backend to move the arguments to: one where another argument already is, else the lowest that answers.
std::optional<BackendComponent> nearestBackend(const Call& call) {
  DispatchKeySet brought;
  for (const ArgumentKeys& argument : call.arguments) brought |= argument.keys;
  std::optional<BackendComponent> lowest;
  for (uint8_t number = 1; number <= num_backends; ++number) {
    const auto backend = static_cast<BackendComponent>(number);
    if (backend == toBackendComponent(call.key) || backend == BackendComponent::MetaBit || !answersOn(call.op, backend))
      continue;
    if (brought.has_backend(backend)) return backend;
    if (!lowest.has_value()) lowest = backend;
  }
  return lowest;
}

// "Move arguments 'a' and 'b' to cuda, or "; "" if that would not help.
std::string howToMove(const Call& call) {
  if (toFunctionalityKey(call.key) != Key::Dense) return "";
  const std::optional<BackendComponent> backend = nearestBackend(call);
  if (!backend.has_value()) return "";
  const auto device = toDeviceType(*backend);
  const std::string_view place =
      device.has_value() ? toString(*device) : toString(toRuntimePerBackendFunctionalityKey(Key::Dense, *backend));
  std::vector<std::string> names;
  for (const ArgumentKeys& argument : call.arguments) {
    if (argument.keys.has(call.key)) names.push_back(fmt::format("'{}'", argument.name));
  }
  if (names.empty()) return call.device.has_value() ? fmt::format("Pass the device {}, or ", place) : "";
  return fmt::format("Move argument{} {} to {}{}, or ", names.size() > 1 ? "s" : "", fmt::join(names, " and "), place,
                     call.is_of_a_script ? fmt::format(" with `.to(\"{}\")`", place) : "");
}

// Returns how to write a kernel of the operator for [key], as it follows "Register".
std::string kernelAt(const Call& call, Key key) {
  if (call.is_of_a_script) return fmt::format("`impl {} @ {} {{ … }}`", call.op.operator_name(), key);
  return fmt::format("a kernel with BOXCAR_LIBRARY_IMPL({}, {}, m)",
                     call.op.operator_name().getNamespace().value_or("ns"), key);
}

std::string fallbackAt(const Call& call, Key key) {
  return call.is_of_a_script ? fmt::format("`fallback @ {} {{ … }}`", key)
                             : fmt::format("a fallback with BOXCAR_LIBRARY_IMPL(_, {}, m)", key);
}

// "run with `--cpu-fallback`, or "; "" if that would not help.
std::string howToFallBack(const Call& call) {
  const bool is_brought =
      std::ranges::any_of(call.arguments, [&](const ArgumentKeys& argument) { return argument.keys.has(call.key); });
  if (!is_brought || !detail::canFallBackToCpu(call.key) || !answersOn(call.op, BackendComponent::CPUBit) ||
      detail::whyNotOnCpu(call.op).has_value())
    return "";
  return call.is_of_a_script
             ? "run with `--cpu-fallback`, or "
             : fmt::format("let the CPU serve with registerCpuFallback(DispatchKey::{}), or ", call.key);
}

bool isModeKey(Key key) { return key == Key::PreDispatch || key == Key::Python; }

std::string remedyOf(const Call& call) {
  const std::string move = howToMove(call);
  const std::string_view verb = call.is_of_a_script ? "write" : "register";
  std::string remedy;
  if (toFunctionalityKey(call.key) == Key::Dense) {
    remedy = move + howToFallBack(call) + fmt::format("{} {}", verb, kernelAt(call, call.key));
  } else if (isModeKey(call.key)) {
    remedy = fmt::format("{}, or {} {}",
                         call.is_of_a_script ? "Declare a `mode` and switch it on by `with name { … }`"
                                             : "Hold a ModeGuard with a handler",
                         verb, kernelAt(call, call.key));
  } else {
    const bool is_included = whoBrought(call) == ", which this thread includes";
    const Key functionality = toFunctionalityKey(call.key);
    if (is_included)
      remedy = call.is_of_a_script ? fmt::format("Leave `with include({})`, or ", functionality)
                                   : fmt::format("End the guard that includes it, or ");
    remedy +=
        fmt::format("{} {}, or {} for every operator", verb, kernelAt(call, call.key), fallbackAt(call, call.key));
  }
  remedy[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(remedy[0])));
  return remedy;
}

// For a call to which no argument brought a key: throws Error for the first argument that does not match the schema or
// is an undefined tensor, if there is one.
void explainWhatBringsNoKey(const OperatorHandle& op, const Stack& stack) {
  const std::vector<Argument>& arguments = op.schema().arguments();
  if (stack.size() < arguments.size()) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = peek(stack, i, arguments.size());
    if (!matches(value, arguments[i].type())) detail::failMistypedArgument(op, stack, arguments.size(), i);
    BOXCAR_CHECK(!value.isTensor() || value.toTensor().defined(),
                 "could not run {}: argument '{}' (position {}) is an undefined tensor, which has no backend; pass a "
                 "defined tensor",
                 op.operator_name(), arguments[i].name(), i + 1);
  }
}

// Throws Error if an argument brought a key that this thread excludes, so that no kernel was left.
void explainExclusion(const Call& call) {
  const DispatchKeySet excluded = tls_local_dispatch_key_set().excluded_;
  for (const ArgumentKeys& argument : call.arguments) {
    const DispatchKey functionality = (argument.keys & excluded).highestFunctionalityKey();
    if (functionality == Key::Undefined) continue;
    BOXCAR_FAIL(
        "could not run {}: this thread excludes {}, which argument '{}' (position {}) brought, and no key that is left "
        "has a kernel that computes. {}",
        call.op.operator_name(), functionality, argument.name, argument.index + 1,
        call.is_of_a_script ? fmt::format("Leave `with exclude({})`", functionality)
                            : "End the guard that excludes it");
  }
}

[[noreturn]] void failWithoutKey(const Call& call, DispatchKeySet keys, const Stack& stack) {
  const OperatorHandle& op = call.op;
  // The backend bits remain after all functionalities are done.
  if (!keys.empty()) {
    explainExclusion(call);
    const Key backend = toRuntimePerBackendFunctionalityKey(Key::Dense, keys.highestBackendKey());
    BOXCAR_FAIL(
        "could not run {}: every kernel for the keys of its arguments lets the call through to the next, and none "
        "computes. It has kernels for: {}. {}",
        op.operator_name(), op.entry().listKernelKeys(),
        call.is_of_a_script ? fmt::format("Write `impl {} @ {} {{ … }}`", op.operator_name(), backend)
                            : "Register one that is not a fallthrough");
  }
  explainWhatBringsNoKey(op, stack);
  const size_t count = op.schema().arguments().size();
  for (size_t i = 0; stack.size() >= count && i < count; ++i) {
    const Argument& argument = op.schema().arguments()[i];
    const IValue& value = peek(stack, i, count);
    if (argument.type() != Type::listOf(Type::tensor()) || !value.isList() || value.length() > 0) continue;
    BOXCAR_FAIL(
        "could not run {}: it needs at least one tensor, and the list '{}' (position {}) is empty. It has kernels "
        "for: {}",
        op.operator_name(), argument.name(), i + 1, op.entry().listKernelKeys());
  }
  BOXCAR_FAIL(
      "could not run {}: no argument is a tensor, and the operator has no composite "
      "kernel that runs without one. It has kernels for: {}. Pass a tensor, or a device to a factory{}",
      op.operator_name(), op.entry().listKernelKeys(),
      call.is_of_a_script ? fmt::format(", or write `impl {} @ CompositeExplicitAutograd {{ … }}`", op.operator_name())
                          : "");
}

}  // namespace

void detail::failMissingKernel(const OperatorHandle& op, DispatchKeySet keys, const Stack& stack) {
  const Key key = runtimeKeyOf(keys);
  const Call call{op, key, readArguments(op, stack), findDevice(op, key, stack), isOfAScript(op)};
  if (call.key == Key::Undefined) failWithoutKey(call, keys, stack);
  BOXCAR_FAIL(
      "could not run {} for dispatch key {}{}: no {} is registered for it.{} The operator has kernels for: {}. {}",
      op.operator_name(), call.key, whoBrought(call), isModeKey(call.key) ? "mode is on and no kernel" : "kernel",
      whatArgumentsBring(call), op.entry().listKernelKeys(), remedyOf(call));
}

void detail::failMissingMetaKernel(const OperatorHandle& op) {
  throw NoElementsError(fmt::format(
      "{} was called with a meta tensor, but it has no kernel that computes shapes alone: it has kernels for: {}. {}",
      toString(op.operator_name()), op.entry().listKernelKeys(),
      isOfAScript(op) ? fmt::format("Write `impl {} @ Meta {{ … }}`", toString(op.operator_name()))
                      : "Register one for Meta, or a composite one"));
}

}  // namespace boxcar
