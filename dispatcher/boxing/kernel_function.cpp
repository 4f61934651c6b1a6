#include <boxcar/dispatcher/boxing/kernel_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/error.h>

namespace boxcar {
namespace {

struct BoxedOnlyKernel final : Kernel {
  explicit BoxedOnlyKernel(const KernelFunction& given)
      : Kernel{[](const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          const Kernel* inner = static_cast<const BoxedOnlyKernel*>(kernel)->kernel.kernel();
          inner->boxed(inner, op, keys, stack);
        }},
        kernel(given) {}

  KernelFunction kernel;
};

}  // namespace

void KernelFunction::checkGiven(const void* functor) {
  BOXCAR_CHECK(functor != nullptr, "a kernel cannot be made of a functor that is a null pointer");
}

const Kernel* KernelFunction::kernelToCall(const OperatorHandle& op, const CppSignature& signature) const {
  BOXCAR_CHECK(isValid(), "a KernelFunction that holds no kernel was called for {}", op.operator_name());
  BOXCAR_CHECK(!isValidUnboxed() || *signature_ == signature,
               "a kernel of {} was called with C++ signature\n    {}\nbut it has\n    {}", op.operator_name(),
               signature, *signature_);
  return kernel_;
}

void KernelFunction::callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
  BOXCAR_CHECK(isValid(), "a KernelFunction that holds no kernel was called for {}", op.operator_name());
  const size_t wanted = signature_ != nullptr ? signature_->argumentCount()
                        : op.hasSchema()      ? op.schema().arguments().size()
                                              : 0;
  BOXCAR_CHECK(stack->size() >= wanted, "a kernel of {} takes {} arguments, but the stack holds {} values",
               op.operator_name(), wanted, stack->size());
  const std::shared_ptr<const Kernel> owner = owner_;
  const Kernel* kernel = kernel_;
  kernel->boxed(kernel, op, keys, *stack);
}

KernelFunction KernelFunction::makeBoxedOnly(const KernelFunction& kernel) {
  auto boxed_only = std::make_shared<BoxedOnlyKernel>(kernel);
  const Kernel* boxed = boxed_only.get();
  return {boxed, std::move(boxed_only), kernel.signature_, &detail::PinnedBoxedKernel::make};
}

}  // namespace boxcar
