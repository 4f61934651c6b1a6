#include <boxcar/backends/cuda/lines.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/search_kernels.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/median.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <string_view>

namespace boxcar::cuda {
namespace {

void median(std::string_view name, const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim,
            bool skips_nan) {
  const Tensor in = rowsOf(self, dim);
  const int64_t length = self.sizes()[dim];
  MiddleLaunch launch{
      name,           in.data_ptr(), values.data_ptr(), static_cast<int64_t*>(indices.data_ptr()), self.scalar_type(),
      values.numel(), length,        skips_nan};
  if (length > kShortRow && length <= INT32_MAX && launch.rows >= kManyRows) return module().middle_of_rows(launch);
  const auto [sorted, places] = boxcar::sort(in, -1, /*descending=*/false);
  launch.in = sorted.data_ptr();
  module().middle(launch, static_cast<const int64_t*>(places.data_ptr()));
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::medianLines, median)

}  // namespace boxcar::cuda
