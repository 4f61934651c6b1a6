#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/elements/convolution.h>
#include <boxcar/backends/shape/convolution.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstddef>
#include <span>

namespace boxcar::dense {

// A convolution of pictures or volumes whose [arguments] were checked. All tensors are of one number type; [bias] may
// be undefined. The result, which lies as arguments.channels_last says and has elements, is written to [out].
using ConvolutionFunction = void(const shape::Convolution& arguments, const Tensor& out, const Tensor& input,
                                 const Tensor& weight, const Tensor& bias);
extern DeviceFunction<ConvolutionFunction> convolve;

// How [arguments] read the spatial dimensions of an input of [input] elements each by kernels of [weight]: three of
// them, the first ones of size 1 where there are fewer.
using ConvolvedAxes = std::array<elements::ConvolvedAxis, 3>;
ConvolvedAxes convolvedAxes(const shape::Convolution& arguments, std::span<const int64_t> input,
                            std::span<const int64_t> weight);

}  // namespace boxcar::dense
