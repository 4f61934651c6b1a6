#pragma once

#include <boxcar/backends/shape/convolution.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::cpu {

// A convolution of pictures or volumes whose [arguments] were checked; [bias] may be undefined. All tensors are of one
// dtype; [out] and [input] lie as arguments.channels_last says, the others contiguous.
struct ConvolutionCall {
  const shape::Convolution& arguments;
  const Tensor& out;
  const Tensor& input;
  const Tensor& weight;
  const Tensor& bias;
};

// Writes the result by oneDNN: onednn/ has it, no_onednn/ stands in. False, and nothing written, when it has no fast
// kernel for the call.
bool convolveByLibrary(const ConvolutionCall& call);

// Writes the result by matrix products, for elements of any type that has arithmetic in its own precision.
void convolveByColumns(const ConvolutionCall& call);

}  // namespace boxcar::cpu
