#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstddef>

namespace boxcar::meta {
namespace {

// With [may_lack_channels], the number of channels may be 0.
void checkImages(std::string_view op, size_t rank, const Tensor& self, bool may_lack_channels) {
  const auto sizes = self.sizes();
  bool fits = sizes.size() == rank + 1 || sizes.size() == rank + 2;
  for (size_t i = sizes.size() - (may_lack_channels ? rank : rank + 1); fits && i < sizes.size(); ++i) {
    fits = sizes[i] > 0;
  }
  for (size_t i = sizes.size() - rank; fits && i < sizes.size(); ++i) fits = sizes[i] <= kMostSpatialArgument;
  BOXCAR_CHECK(fits, "{}: expected a {}D or {}D input with no empty dimension except the batch, but got one of size {}",
               op, rank + 1, rank + 2, listOf(sizes));
}

int64_t windowCount(std::string_view op, const Pool& pool, size_t i, int64_t in, bool ceil_mode) {
  const int64_t reach = windowReach(op, pool.kernel[i], pool.dilation[i]);
  const int64_t room = in + 2 * pool.padding[i] - reach + (ceil_mode ? pool.stride[i] - 1 : 0);
  int64_t count = room < 0 ? 0 : room / pool.stride[i] + 1;
  // The last window must start in the input or the padding before it.
  if (ceil_mode && (count - 1) * pool.stride[i] >= in + pool.padding[i]) --count;
  return count;
}

}  // namespace

Pool checkPool(std::string_view op, size_t rank, const Tensor& self, std::span<const int64_t> kernel_size,
               std::span<const int64_t> stride, std::span<const int64_t> padding, std::span<const int64_t> dilation,
               bool ceil_mode) {
  Pool pool{spatialArgument(op, "kernel_size", kernel_size, rank, 1),
            spatialArgument(op, "stride", stride.empty() ? kernel_size : stride, rank, 1),
            spatialArgument(op, "padding", padding, rank, 0),
            spatialArgument(op, "dilation", dilation, rank, 1),
            toDimVector(self.sizes()),
            suggestsChannelsLast(self)};
  checkImages(op, rank, self, /*may_lack_channels=*/false);
  for (size_t i = 0; i < rank; ++i) {
    BOXCAR_CHECK(pool.padding[i] <= pool.kernel[i] / 2,
                 "{}: padding should be at most half of the kernel size, but got padding {} and kernel_size {}", op,
                 listOf(pool.padding), listOf(pool.kernel));
    int64_t& size = pool.output_sizes[pool.output_sizes.size() - rank + i];
    size = windowCount(op, pool, i, size, ceil_mode);
    BOXCAR_CHECK(size >= 1,
                 "{}: output size is too small: no window of kernel_size {} fits an input of size {} in its "
                 "padding {}",
                 op, listOf(pool.kernel), listOf(self.sizes()), listOf(pool.padding));
  }
  return pool;
}

AdaptivePool checkAdaptivePool(std::string_view op, size_t rank, const Tensor& self,
                               std::span<const int64_t> output_size, bool may_lack_channels) {
  BOXCAR_CHECK(output_size.size() == rank, "{}: output_size must be a list of {} ints, but it is {}", op, rank,
               listOf(output_size));
  const DimVector wanted = spatialArgument(op, "output_size", output_size, rank, 0);
  checkImages(op, rank, self, may_lack_channels);
  AdaptivePool pool{toDimVector(self.sizes()), suggestsChannelsLast(self)};
  std::ranges::copy(wanted, pool.output_sizes.end() - static_cast<ptrdiff_t>(rank));
  return pool;
}

DimVector unpooledSizes(std::string_view op, size_t rank, const Tensor& self, const Tensor& indices,
                        std::span<const int64_t> output_size) {
  BOXCAR_CHECK(indices.scalar_type() == ScalarType::Long, "{}: elements of indices should be of type int64 but got {}",
               op, dtypeName(indices.scalar_type()));
  BOXCAR_CHECK(std::ranges::equal(self.sizes(), indices.sizes()),
               "{}: expected indices of the size {} of the input, but got {}", op, listOf(self.sizes()),
               listOf(indices.sizes()));
  return checkAdaptivePool(op, rank, self, output_size, /*may_lack_channels=*/false).output_sizes;
}

}  // namespace boxcar::meta
