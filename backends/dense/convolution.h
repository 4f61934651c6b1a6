#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/elements/convolution.h>
#include <boxcar/backends/shape/convolution.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstddef>
#include <span>

namespace boxcar::dense {

// Writes the convolution of pictures or volumes with checked [arguments] to [out], which has elements and the memory
// format of arguments.channels_last. All tensors are of one number type; [bias] may be undefined.
using ConvolutionFunction = void(const shape::Convolution& arguments, const Tensor& out, const Tensor& input,
                                 const Tensor& weight, const Tensor& bias);
extern DeviceFunction<ConvolutionFunction> convolve;

// Returns how [arguments] read the spatial dimensions of an input of sizes [input] with a weight of sizes [weight]:
// three axes, the first ones of size 1 if there are fewer.
using ConvolvedAxes = std::array<elements::ConvolvedAxis, 3>;
ConvolvedAxes convolvedAxes(const shape::Convolution& arguments, std::span<const int64_t> input,
                            std::span<const int64_t> weight);

}  // namespace boxcar::dense
