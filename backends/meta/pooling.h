#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::meta {

// The checked arguments of a 2D pool, with numbers for the height and the width.
struct Pool2d {
  DimVector kernel;
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_sizes;  // [N, C, H, W] or [C, H, W]
  bool channels_last;      // memory format of the result
};

// Throws Error if [self] is not [N, C, H, W] or [C, H, W] with all dimensions except the batch non-empty, or if the
// windows do not fit. An empty [stride] means the kernel's size; with [ceil_mode] the last window may reach beyond the
// padding.
Pool2d checkPool2d(std::string_view op, const Tensor& self, std::span<const int64_t> kernel_size,
                   std::span<const int64_t> stride, std::span<const int64_t> padding, std::span<const int64_t> dilation,
                   bool ceil_mode);

// A pool with as many windows as [output_size] says. With [may_lack_channels], the number of channels may be 0.
struct AdaptivePool2d {
  DimVector output_sizes;
  bool channels_last;
};
AdaptivePool2d checkAdaptivePool2d(std::string_view op, const Tensor& self, std::span<const int64_t> output_size,
                                   bool may_lack_channels);

}  // namespace boxcar::meta
