#include <boxcar/backends/cuda/failure.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/pointwise_launcher.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/pointwise.h>

namespace boxcar::cuda {
namespace {

const PointwiseLauncher& launcherOf(const native::PointwiseWork& work) {
  return (*module().pointwise[static_cast<size_t>(work.functor)])[static_cast<size_t>(work.type)];
}

void flat(const native::PointwiseWork& work, const native::FlatOperands& operands, int64_t n) {
  launcherOf(work).flat({operands.data, operands.steps, operands.on_host, n, work.params, currentFailure()});
}

void strided(const native::PointwiseWork& work, const native::StridedOperand* operands) {
  StridedLayout layout(operands[0].sizes);
  char* data[native::kMaxOperands];
  uint32_t on_host = 0;
  for (int i = 0; i < work.count; ++i) {
    layout.add(operands[i].sizes, operands[i].strides, static_cast<int64_t>(operands[i].itemsize));
    data[i] = static_cast<char*>(operands[i].data);
    if (operands[i].itemsize == 0) on_host |= 1U << i;
  }
  layout.prepare();
  launcherOf(work).strided({data, &layout, on_host, work.params, currentFailure()});
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::runFlat, flat)
BOXCAR_REGISTER_STUB(CUDA, native::runPointwise, strided)

}  // namespace boxcar::cuda
