#include <boxcar/backends/cuda/loss_kernels.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/nll_loss.h>
#include <boxcar/ops.h>

namespace boxcar::cuda {
namespace {

void classLosses(const native::ClassLossCall& call, const Tensor& out, const Tensor& total_weight) {
  const ScalarType type = call.log_probabilities.scalar_type();
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const int64_t count = call.sizes.samples * call.sizes.pixels;
  const Tensor losses = Tensor::allocate({&count, 1}, computed, out.device());
  const Tensor weights = Tensor::allocate({&count, 1}, computed, out.device());
  module().class_losses({call.log_probabilities.data_ptr(), static_cast<const int64_t*>(call.targets.data_ptr()),
                         call.weights.defined() ? call.weights.data_ptr() : nullptr, losses.data_ptr(),
                         weights.data_ptr(), type, call.sizes.samples, call.sizes.classes, call.sizes.pixels,
                         call.ignored, currentFailure()});
  if (!call.sums) {
    native::copyElements(out, boxcar::view(losses, out.sizes()));
    Tensor none = total_weight;
    boxcar::zero_(none);
    return;
  }
  const Tensor total = boxcar::sum(weights);
  const Tensor loss = boxcar::sum(losses);
  native::copyElements(out, call.is_mean ? boxcar::div(loss, total) : loss);
  native::copyElements(total_weight, total);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::classLosses, classLosses)

}  // namespace boxcar::cuda
