#pragma once

#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  Recording recording;
};

// The numbers that identify what cuDNN prepares for a call; [keeps_float] tells whether TensorFloat-32 is not allowed.
inline std::vector<int64_t> convolutionKey(const ConvolutionCall& call, bool keeps_float) {
  const meta::Convolution& c = call.arguments;
  constexpr int64_t kOfConvolutions = -1;  // no key of attention begins with it
  std::vector<int64_t> key{
      kOfConvolutions, static_cast<int64_t>(call.type), keeps_float, c.transposed, c.channels_last, c.groups,
      call.accumulates};
  for (const DimVector* values :
       {&call.input_sizes, &call.weight_sizes, &c.output_sizes, &c.stride, &c.padding, &c.dilation}) {
    key.insert(key.end(), values->begin(), values->end());
  }
  return key;
}

// Returns the strides of [N, C, spatial dimensions…], contiguous or with the channels innermost.
inline std::vector<int64_t> convolutionStrides(std::span<const int64_t> sizes, bool channels_last) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = channels_last ? sizes[1] : 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (channels_last && dim == 1) continue;
    strides[dim] = step;
    step *= sizes[dim];
  }
  if (channels_last) strides[1] = 1;
  return strides;
}

}  // namespace boxcar::cuda
