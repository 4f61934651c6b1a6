#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::meta {

// The checked arguments of a pool, with a number for each spatial dimension.
struct Pool {
  DimVector kernel;
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_sizes;  // [N, C, spatial dimensions…], or without N
  bool channels_last;      // memory format of the result
};

// Throws Error if [self] is not [N, C, spatial dimensions…], or that without N, with [rank] spatial dimensions and all
// dimensions except the batch non-empty, or if the windows do not fit. An empty [stride] means the kernel's size; with
// [ceil_mode] the last window may reach beyond the padding.
Pool checkPool(std::string_view op, size_t rank, const Tensor& self, std::span<const int64_t> kernel_size,
               std::span<const int64_t> stride, std::span<const int64_t> padding, std::span<const int64_t> dilation,
               bool ceil_mode);

// A pool with as many windows as [output_size] says. With [may_lack_channels], the number of channels may be 0.
struct AdaptivePool {
  DimVector output_sizes;
  bool channels_last;
};
AdaptivePool checkAdaptivePool(std::string_view op, size_t rank, const Tensor& self,
                               std::span<const int64_t> output_size, bool may_lack_channels);

// Returns the sizes of the result of max_unpool. Throws Error if [self] is not as above, or if [indices] are not int64
// of the same sizes.
DimVector unpooledSizes(std::string_view op, size_t rank, const Tensor& self, const Tensor& indices,
                        std::span<const int64_t> output_size);

}  // namespace boxcar::meta
