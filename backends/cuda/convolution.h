#pragma once

#include <boxcar/backends/shape/convolution.h>
#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/scalar_type.h>

namespace boxcar::cuda {

// A convolution of pictures or volumes without a bias, all of floating elements and of whole tensors in a device's
// memory: contiguous or, where arguments.channels_last says so, the weight too, with the channels innermost.
struct ConvolutionCall {
  shape::Convolution arguments;
  ScalarType type;
  DimVector input_sizes;
  DimVector weight_sizes;
  const void* input;
  const void* weight;
  void* out;
  bool accumulates;  // adds to what [out] holds, before it is rounded
};

}  // namespace boxcar::cuda
