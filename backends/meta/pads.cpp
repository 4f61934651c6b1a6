#include <boxcar/backends/meta/pads.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {

DimVector paddedSizes(const Tensor& self, std::span<const int64_t> pad) {
  BOXCAR_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals {}", pad.size());
  BOXCAR_CHECK(pad.size() / 2 <= self.sizes().size(),
               "Length of pad should be no more than twice the number of dimensions of the input. Pad length is {} "
               "while the input has {} dimensions.",
               pad.size(), self.dim());
  DimVector sizes = toDimVector(self.sizes());
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t dim = sizes.size() - 1 - i;
    const int64_t size = sizes[dim];
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    // Apply the negative padding of both ends first, then the positive.
    int64_t left = 0;
    const bool fits = !__builtin_add_overflow(size + std::min<int64_t>(before, 0), std::min<int64_t>(after, 0), &left);
    BOXCAR_CHECK(fits && left >= 0,
                 "The input size {}, plus negative padding {} and {} resulted in a negative output size, which is "
                 "invalid. Check dimension {} of your input.",
                 size, before, after, dim);
    const bool overflow = __builtin_add_overflow(left, std::max<int64_t>(before, 0), &left) ||
                          __builtin_add_overflow(left, std::max<int64_t>(after, 0), &left);
    BOXCAR_CHECK(!overflow, "The input size {}, plus padding {} and {}, is too large", size, before, after);
    sizes[dim] = left;
  }
  return sizes;
}

DimVector mirroredSizes(std::string_view name, const Tensor& self, std::span<const int64_t> pad, size_t dims,
                        bool reflects) {
  BOXCAR_CHECK(pad.size() == 2 * dims, "{}: padding size is expected to be {}, but got: [{}]", name, 2 * dims,
               fmt::join(pad, ", "));
  const size_t rank = self.sizes().size();
  const bool has_batch = rank == dims + 2;
  const bool valid = (has_batch || rank == dims + 1) &&
                     std::ranges::find(self.sizes().subspan(has_batch ? 1 : 0), 0) == self.sizes().end();
  BOXCAR_CHECK(valid,
               "{}: Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
               "for input, but got: [{}]",
               name, dims + 1, dims + 2, fmt::join(self.sizes(), ", "));
  for (size_t i = 0; reflects && i < dims; ++i) {
    const size_t dim = rank - 1 - i;
    BOXCAR_CHECK(pad[2 * i] < self.sizes()[dim] && pad[2 * i + 1] < self.sizes()[dim],
                 "{}: Padding size should be less than the corresponding input dimension, but got: padding ({}, {}) at "
                 "dimension {} of input [{}]",
                 name, pad[2 * i], pad[2 * i + 1], dim, fmt::join(self.sizes(), ", "));
  }
  const DimVector sizes = paddedSizes(self, pad);
  for (size_t dim = rank - dims; dim < rank; ++dim) {
    BOXCAR_CHECK(sizes[dim] > 0, "{}: input [{}] is too small for padding [{}]: the result would have sizes [{}]", name,
                 fmt::join(self.sizes(), ", "), fmt::join(pad, ", "), fmt::join(sizes, ", "));
  }
  return sizes;
}

}  // namespace boxcar::meta
