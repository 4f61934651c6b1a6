#pragma once

#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/scalar_type.h>

namespace boxcar::cuda {

// A convolution of images or volumes without a bias. All tensors are floating-point and whole, in device memory:
// contiguous or, if arguments.channels_last is true, with the channels innermost (including the weight).
struct ConvolutionCall {
  meta::Convolution arguments;
  ScalarType type;
  DimVector input_sizes;
  DimVector weight_sizes;
  const void* input;
  const void* weight;
  void* out;
  bool accumulates;  // adds to the contents of [out], before rounding
};

}  // namespace boxcar::cuda
