#include <boxcar/backends/meta/factories.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/spatial.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {

DimVector spatialArgument(std::string_view op, std::string_view name, std::span<const int64_t> values, size_t rank,
                          int64_t least) {
  BOXCAR_CHECK(values.size() == rank || values.size() == 1, "{}: {} must be one int or a list of {}, but it is {}", op,
               name, rank, listOf(values));
  for (const int64_t value : values) {
    BOXCAR_CHECK(value >= least && value <= kMostSpatialArgument, "{}: {} must be from {} to {}, but it is {}", op,
                 name, least, kMostSpatialArgument, listOf(values));
  }
  return values.size() == rank ? toDimVector(values) : DimVector(rank, values[0]);
}

int64_t windowReach(std::string_view op, int64_t kernel, int64_t dilation) {
  int64_t reach = 0;
  const bool overflow = __builtin_mul_overflow(kernel - 1, dilation, &reach) || reach >= int64_t{1} << 62;
  BOXCAR_CHECK(!overflow, "{}: a kernel of {} elements with dilation {} is too large", op, kernel, dilation);
  return reach + 1;
}

bool suggestsChannelsLast(const Tensor& tensor) {
  return tensor.dim() == 4 && formatOf(tensor) == MemoryFormat::ChannelsLast;
}

Tensor allocateSpatial(std::span<const int64_t> sizes, bool channels_last, ScalarType dtype, Device device) {
  if (!channels_last) return Tensor::allocate(sizes, dtype, device);
  return allocateStrided(sizes, stridesIn(MemoryFormat::ChannelsLast, sizes), dtype, device);
}

Tensor asImages(const Tensor& signals) {
  const auto sizes = signals.sizes();
  const auto strides = signals.strides();
  const int64_t image_sizes[] = {sizes[0], sizes[1], 1, sizes[2]};
  const int64_t image_strides[] = {strides[0], strides[1], std::max<int64_t>(sizes[2], 1) * strides[2], strides[2]};
  return signals.view(image_sizes, image_strides, signals.storage_offset());
}

std::string listOf(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

}  // namespace boxcar::meta
