#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::meta {

// The checked arguments of a convolution, with one number for each spatial dimension.
struct Convolution {
  DimVector stride;
  DimVector padding;
  DimVector dilation;
  DimVector output_padding;  // of transposed convolutions
  bool transposed;
  int64_t groups;
  DimVector output_sizes;  // [N, O, spatial dimensions…]
  bool channels_last;      // memory format of the result

  size_t rank() const { return stride.size(); }
};

// Throws Error if [input] of [N, C, spatial dimensions…] does not match [weight] of [O, C/groups, kernel…], or [C,
// O/groups, kernel…] if [transposed], or [bias] of [O]; [bias] may be undefined.
Convolution checkConvolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             std::span<const int64_t> stride, std::span<const int64_t> padding,
                             std::span<const int64_t> dilation, bool transposed,
                             std::span<const int64_t> output_padding, int64_t groups);

}  // namespace boxcar::meta
