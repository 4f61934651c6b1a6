#include <boxcar/dispatcher/kernel_function.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/schema/value_type.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace boxcar {
namespace {

// Which argument brought [key], for the error: ", which argument 'self' (position 1) brought".
std::string whoBrought(const OperatorHandle& op, DispatchKey key, const Stack& stack) {
  const std::vector<Argument>& arguments = op.schema().arguments();
  if (stack.size() < arguments.size()) return "";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int depth = detail::listDepthOf(arguments[i].type());
    if (depth >= 0 && detail::keysOfValue(peek(stack, i, arguments.size()), depth).has(key))
      return fmt::format(", which argument '{}' (position {}) brought", arguments[i].name(), i + 1);
  }
  return tls_is_dispatch_key_included(key) ? ", which this thread includes" : "";
}

// When no argument brought a key: throws the Error of the first that is not what the schema says, or that is an
// undefined tensor, if there is one.
void explainWhatBringsNoKey(const OperatorHandle& op, const Stack& stack) {
  const std::vector<Argument>& arguments = op.schema().arguments();
  if (stack.size() < arguments.size()) return;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const IValue& value = peek(stack, i, arguments.size());
    if (!matches(value, arguments[i].type())) detail::failMistypedArgument(op, stack, arguments.size(), i);
    BOXCAR_CHECK(
        !value.isTensor() || value.toTensor().defined(),
        "could not run {}: argument '{}' (position {}) is an undefined tensor, which lies on no backend; pass a "
        "tensor that was made",
        op.operator_name(), arguments[i].name(), i + 1);
  }
}

[[noreturn]] void explainMissing(const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKey key = keys.highestPriorityTypeId();
  if (const auto report = op.entry().reportErrorCallback()) report(op, key);
  // Who wrote the definition in a script may write the kernel there.
  const bool is_of_a_script = op.entry().schemaSite().is_script;
  // Tensors leave their backend's bit behind when their functionalities are done.
  if (key == DispatchKey::Undefined && !keys.empty()) {
    BOXCAR_FAIL(
        "could not run {}: every kernel for the keys of its arguments lets the call through to the next, and none "
        "computes. It has kernels for: {}. Register one that is no fallthrough",
        op.operator_name(), op.entry().listKernelKeys());
  }
  if (key == DispatchKey::Undefined) {
    explainWhatBringsNoKey(op, stack);
    BOXCAR_FAIL(
        "could not run {}: no argument is a tensor (or all lists of tensors are empty), and the operator has no "
        "composite kernel that runs without one. It has kernels for: {}. Pass a tensor, or a device to a factory{}",
        op.operator_name(), op.entry().listKernelKeys(),
        is_of_a_script ? fmt::format(", or write `impl {} @ CompositeExplicitAutograd {{ … }}`", op.operator_name())
                       : "");
  }
  BOXCAR_FAIL(
      "could not run {} for dispatch key {}{}: no kernel is registered for it. The operator has kernels for: {}. Move "
      "the arguments to a backend that has one, or register a kernel with {}BOXCAR_LIBRARY_IMPL({}, {}, m)",
      op.operator_name(), key, whoBrought(op, key, stack), op.entry().listKernelKeys(),
      is_of_a_script ? fmt::format("`impl {} @ {} {{ … }}` in a script or with ", op.operator_name(), key) : "",
      op.operator_name().getNamespace().value_or("ns"), key);
}

void goOn(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKey functionality = keys.highestFunctionalityKey();
  if (functionality == DispatchKey::Undefined) explainMissing(kernel, op, keys, stack);
  op.redispatchBoxedUnwatched(keys.remove(functionality), stack);
}

void explainMissingMeta(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  if (const auto report = op.entry().reportErrorCallback()) report(op, DispatchKey::Meta);
  BOXCAR_FAIL(
      "{} was called with a meta tensor, but it has no kernel that computes shapes alone: it has kernels for: {}. "
      "Register one for Meta, or a composite one",
      op.operator_name(), op.entry().listKernelKeys());
}

void explainAmbiguous(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  BOXCAR_FAIL(
      "{} has kernels for both CompositeImplicitAutograd and a backend that AutogradOther serves (it has kernels for: "
      "{}): which of the two differentiates is ambiguous. Register a kernel for AutogradOther, or drop the composite",
      op.operator_name(), op.entry().listKernelKeys());
}

void explainNamed(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  BOXCAR_FAIL(
      "{} is not supported with named tensors: drop the names with `tensor.rename(None)`, call the operator, and name "
      "the result",
      op.operator_name());
}

void explainUndefined(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  static_cast<void>(op.schema());
  BOXCAR_FAIL("operator {} is being defined or removed by another thread at this moment; call it again",
              op.operator_name());
}

}  // namespace

namespace detail {

constinit const Kernel kFallthroughKernel = {&goOn, KernelKind::Fallthrough};
constinit const Kernel kMissingKernel = {&explainMissing, KernelKind::Missing};
constinit const Kernel kMissingMetaKernel = {&explainMissingMeta, KernelKind::Missing};
constinit const Kernel kAmbiguousAutogradKernel = {&explainAmbiguous, KernelKind::AmbiguousAutograd};
constinit const Kernel kNamedNotSupportedKernel = {&explainNamed, KernelKind::NamedNotSupported};
constinit const Kernel kUndefinedOperatorKernel = {&explainUndefined, KernelKind::UndefinedOperator};

}  // namespace detail
}  // namespace boxcar
