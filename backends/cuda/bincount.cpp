#include <boxcar/backends/cuda/bincount_kernels.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/bincount.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ops.h>

#include <algorithm>

namespace boxcar::cuda {
namespace {

Tensor count(const Tensor& numbers, const Tensor& weights, int64_t minlength) {
  int64_t bins = minlength;
  if (numbers.numel() > 0) {
    native::checkCounted(native::readNumber(boxcar::amin(numbers)).toInt());
    const int64_t greatest = native::readNumber(boxcar::amax(numbers)).toInt();
    native::checkCounted(greatest);
    bins = std::max(bins, greatest + 1);
  }
  const ScalarType type = weights.defined() ? weights.scalar_type() : ScalarType::Long;
  const Tensor result = boxcar::zeros(DimVector{bins}, type, std::nullopt, numbers.device());
  constexpr int64_t kEach = 4096;  // numbers that make it worth giving a block its own bins
  const int64_t blocks =
      std::clamp<int64_t>(numbers.numel() / kEach, 1, 4 * int64_t{propertiesOf(currentDevice()).multiprocessors});
  module().count({static_cast<const int64_t*>(numbers.data_ptr()), weights.defined() ? weights.data_ptr() : nullptr,
                  result.data_ptr(), type, bins, numbers.numel(), blocks});
  return result;
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::countNumbers, count)

}  // namespace boxcar::cuda
