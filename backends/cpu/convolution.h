#pragma once

#include <boxcar/backends/meta/convolution.h>
#include <boxcar/ivalue/tensor.h>

#include <optional>

namespace boxcar::cpu {

// A convolution of images or volumes with validated [arguments]; [bias] may be undefined. All tensors have the same
// dtype. The layout of [out] and [input] is given by arguments.channels_last; the other tensors are contiguous.
struct ConvolutionCall {
  const meta::Convolution& arguments;
  const Tensor& out;
  const Tensor& input;
  const Tensor& weight;
  const Tensor& bias;
};

// A convolution with kernels of one element that steps over pixels: the same without steps, of the pixels that it sees.
struct SeenPixels {
  meta::Convolution arguments;
  Tensor input;  // a view
};
// Returns these if [arguments] and [weight] are such a convolution of contiguous images or volumes. A copy of the seen
// pixels is a matrix of which the result is a product, while oneDNN would reorder all of them.
std::optional<SeenPixels> seenPixels(const meta::Convolution& arguments, const Tensor& input, const Tensor& weight);

// Computes the result with oneDNN (implemented in onednn/; no_onednn/ is the stub). Returns false and writes nothing if
// oneDNN has no fast kernel for the call.
bool convolveByLibrary(const ConvolutionCall& call);

// Computes the result with matrix products, for any element type that computes in its own precision.
void convolveByColumns(const ConvolutionCall& call);

}  // namespace boxcar::cpu
