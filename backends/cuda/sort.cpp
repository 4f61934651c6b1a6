#include <boxcar/backends/cuda/lines.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/registration.h>
#include <boxcar/backends/cuda/sort_kernels.h>
#include <boxcar/backends/dense/lines.h>
#include <boxcar/backends/dense/sort.h>

#include <cstdint>

namespace boxcar::cuda {
namespace {

void chooseFirst(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, int64_t k,
                 bool descending) {
  const dense::Lines lines(self, dim);
  const Tensor in = rowsOf(self, dim);
  const WrittenRows chosen(values, dim);
  const WrittenRows places(indices, dim);
  const SortLaunch launch{in.data_ptr(),
                          chosen.rows().data_ptr(),
                          static_cast<int64_t*>(places.rows().data_ptr()),
                          self.scalar_type(),
                          lines.outer * lines.inner,
                          lines.length,
                          k,
                          descending};
  if (lines.length <= kShortRow) {
    module().short_sort(launch);
  } else if (k <= kMostChosen && launch.rows >= kManyRows && lines.length <= INT32_MAX) {
    module().choose_rows(launch);
  } else {
    const auto bytes = static_cast<int64_t>(module().long_sort_bytes(launch));
    const Tensor workspace = Tensor::allocate({&bytes, 1}, ScalarType::Byte, self.device());
    module().long_sort(launch, workspace.data_ptr());
  }
  chosen.finish();
  places.finish();
}

void sortLines(const Tensor& values, const Tensor& indices, const Tensor& self, size_t dim, bool descending) {
  chooseFirst(values, indices, self, dim, self.sizes()[dim], descending);
}

}  // namespace

BOXCAR_CUDA_FUNCTION(dense::sortLines, sortLines)
BOXCAR_CUDA_FUNCTION(dense::chooseFirst, chooseFirst)

}  // namespace boxcar::cuda
