#include <boxcar/backends/meta/pooling.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::meta {
namespace {

// With [may_lack_channels], the number of channels may be 0.
void checkImages(std::string_view op, const Tensor& self, bool may_lack_channels) {
  const auto sizes = self.sizes();
  bool fits = sizes.size() == 3 || sizes.size() == 4;
  for (size_t i = sizes.size() - (may_lack_channels ? 2 : 3); fits && i < sizes.size(); ++i) fits = sizes[i] > 0;
  for (size_t i = sizes.size() - 2; fits && i < sizes.size(); ++i) fits = sizes[i] <= kMostSpatialArgument;
  BOXCAR_CHECK(fits, "{}: expected a 3D or 4D input with no empty dimension except the batch, but got one of size {}",
               op, listOf(sizes));
}

int64_t windowCount(std::string_view op, const Pool2d& pool, size_t i, int64_t in, bool ceil_mode) {
  const int64_t reach = windowReach(op, pool.kernel[i], pool.dilation[i]);
  const int64_t room = in + 2 * pool.padding[i] - reach + (ceil_mode ? pool.stride[i] - 1 : 0);
  int64_t count = room < 0 ? 0 : room / pool.stride[i] + 1;
  // The last window must start in the input or the padding before it.
  if (ceil_mode && (count - 1) * pool.stride[i] >= in + pool.padding[i]) --count;
  return count;
}

}  // namespace

Pool2d checkPool2d(std::string_view op, const Tensor& self, std::span<const int64_t> kernel_size,
                   std::span<const int64_t> stride, std::span<const int64_t> padding, std::span<const int64_t> dilation,
                   bool ceil_mode) {
  Pool2d pool{spatialArgument(op, "kernel_size", kernel_size, 2, 1),
              spatialArgument(op, "stride", stride.empty() ? kernel_size : stride, 2, 1),
              spatialArgument(op, "padding", padding, 2, 0),
              spatialArgument(op, "dilation", dilation, 2, 1),
              toDimVector(self.sizes()),
              suggestsChannelsLast(self)};
  checkImages(op, self, /*may_lack_channels=*/false);
  for (size_t i = 0; i < 2; ++i) {
    BOXCAR_CHECK(pool.padding[i] <= pool.kernel[i] / 2,
                 "{}: padding should be at most half of the kernel size, but got padding {} and kernel_size {}", op,
                 listOf(pool.padding), listOf(pool.kernel));
    int64_t& size = pool.output_sizes[pool.output_sizes.size() - 2 + i];
    size = windowCount(op, pool, i, size, ceil_mode);
    BOXCAR_CHECK(size >= 1,
                 "{}: output size is too small: no window of kernel_size {} fits an input of size {} in its "
                 "padding {}",
                 op, listOf(pool.kernel), listOf(self.sizes()), listOf(pool.padding));
  }
  return pool;
}

AdaptivePool2d checkAdaptivePool2d(std::string_view op, const Tensor& self, std::span<const int64_t> output_size,
                                   bool may_lack_channels) {
  BOXCAR_CHECK(output_size.size() == 2, "{}: output_size must be a list of 2 ints, but it is {}", op,
               listOf(output_size));
  const DimVector wanted = spatialArgument(op, "output_size", output_size, 2, 0);
  checkImages(op, self, may_lack_channels);
  AdaptivePool2d pool{toDimVector(self.sizes()), suggestsChannelsLast(self)};
  for (size_t i = 0; i < 2; ++i) pool.output_sizes[pool.output_sizes.size() - 2 + i] = wanted[i];
  return pool;
}

}  // namespace boxcar::meta
