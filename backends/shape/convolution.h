#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::shape {

// The arguments of a convolution, checked, with a number for each spatial dimension.
struct Convolution {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_padding;  // of transposed ones
  bool transposed;
  int64_t groups;
  DimVector output_sizes;  // [N, O, spatial dimensions…]
  bool channels_last;      // whether the result lies so in memory

  size_t rank() const { return stride.size(); }
};

// An Error when [input] of [N, C, spatial dimensions…] does not go with [weight] of [O, C/groups, kernel…], or
// [C, O/groups, kernel…] when [transposed], or with [bias] of [O], which may be undefined.
Convolution checkConvolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             std::span<const int64_t> stride, std::span<const int64_t> padding,
                             std::span<const int64_t> dilation, bool transposed,
                             std::span<const int64_t> output_padding, int64_t groups);

}  // namespace boxcar::shape
