#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/missing_kernel.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/ivalue/error.h>

namespace boxcar {
namespace {

[[noreturn]] void explainMissing(const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  if (const auto report = op.entry().reportErrorCallback()) report(op, detail::runtimeKeyOf(keys));
  detail::failMissingKernel(op, keys, stack);
}

void goOn(const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const DispatchKey functionality = keys.highestFunctionalityKey();
  if (functionality == DispatchKey::Undefined) explainMissing(kernel, op, keys, stack);
  op.redispatchBoxedUnwatched(keys.remove(functionality), stack);
}

void explainMissingMeta(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  if (const auto report = op.entry().reportErrorCallback()) report(op, DispatchKey::Meta);
  detail::failMissingMetaKernel(op);
}

void explainAmbiguous(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  BOXCAR_FAIL(
      "{} has kernels for both CompositeImplicitAutograd and a backend that AutogradOther serves (it has kernels for: "
      "{}): which of the two differentiates is ambiguous. Register a kernel for AutogradOther, or remove the composite "
      "one",
      op.operator_name(), op.entry().listKernelKeys());
}

void explainNamed(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  BOXCAR_FAIL(
      "{} does not take tensors with named dimensions, as PyTorch removed them: give dimensions by their numbers, and "
      "take the key Named off the tensor",
      op.operator_name());
}

void explainUndefined(const Kernel*, const OperatorHandle& op, DispatchKeySet, Stack&) {
  static_cast<void>(op.schema());
  BOXCAR_FAIL("operator {} is being defined or removed by another thread; call it again", op.operator_name());
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
