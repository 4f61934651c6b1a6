#include <boxcar/backends/meta/fft.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>

namespace boxcar::meta {

DimVector transformedDims(std::span<const int64_t> dims, int64_t rank) {
  DimVector result;
  uint64_t seen = 0;
  for (const int64_t dim : dims) {
    BOXCAR_CHECK(rank > 0, "Dimension specified as {} but tensor has no dimensions", dim);
    const int64_t wrapped = wrapDimension(dim, rank);
    const uint64_t bit = uint64_t{1} << wrapped;
    BOXCAR_CHECK((seen & bit) == 0, "FFT dims must be unique, but dimension {} occurs twice", wrapped);
    seen |= bit;
    result.push_back(wrapped);
  }
  return result;
}

void sortTransformedDims(DimVector& dims, size_t count, const Tensor& self) {
  const auto stride = [&](int64_t dim) { return self.strides()[static_cast<size_t>(dim)]; };
  std::stable_sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count),
                   [&](int64_t a, int64_t b) { return stride(a) > stride(b); });
}

DimVector fftStrides(const Tensor& self, std::span<const int64_t> sizes, std::span<const int64_t> dims) {
  DimVector order;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (std::ranges::find(dims, i) == dims.end()) order.push_back(i);
  }
  sortTransformedDims(order, order.size(), self);
  order.insert(order.end(), dims.begin(), dims.end());
  DimVector strides(sizes.size(), 1);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto dim = static_cast<size_t>(order[i]);
    strides[dim] = stride;
    // Sizes whose product is too large are refused when memory is allocated.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[dim], 1), &stride)) stride = 1;
  }
  return strides;
}

double fftScale(int64_t normalization, double elements) {
  BOXCAR_CHECK(normalization >= 0 && normalization <= 2,
               "_fft: normalization is 0 for none, 1 for 1/sqrt(n) or 2 for 1/n, but it is {}", normalization);
  if (normalization == 0) return 1;
  return 1 / (normalization == 1 ? std::sqrt(elements) : elements);
}

}  // namespace boxcar::meta
