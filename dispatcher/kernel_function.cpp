#include <boxcar/dispatcher/kernel_function.h>

namespace boxcar {
namespace {

struct BoxedOnlyKernel final : Kernel {
  explicit BoxedOnlyKernel(const KernelFunction& given)
      : Kernel{[](const Kernel* kernel, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
          const Kernel* inner = static_cast<const BoxedOnlyKernel*>(kernel)->kernel.record();
          inner->boxed(inner, op, keys, stack);
        }},
        kernel(given) {}

  KernelFunction kernel;
};

}  // namespace

KernelFunction KernelFunction::makeBoxedOnly(const KernelFunction& kernel) {
  auto record = std::make_shared<BoxedOnlyKernel>(kernel);
  const Kernel* boxed = record.get();
  return {boxed, std::move(record), kernel.signature_, &detail::PinnedBoxedKernel::make};
}

}  // namespace boxcar
