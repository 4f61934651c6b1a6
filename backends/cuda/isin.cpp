#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/isin.h>
#include <boxcar/ops.h>

namespace boxcar::cuda {
namespace {

void isin(const Tensor& found, const Tensor& elements, const Tensor& tested, bool invert) {
  const Tensor flat = boxcar::reshape(tested, DimVector{tested.numel()});
  const auto [sorted, places] = boxcar::sort(flat, 0, /*descending=*/false);
  module().find({elements.data_ptr(), sorted.data_ptr(), static_cast<bool*>(found.data_ptr()), elements.scalar_type(),
                 elements.numel(), sorted.numel(), invert});
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::findEach, isin)

}  // namespace boxcar::cuda
