#pragma once

#include <boxcar/backends/functors/convolution.h>
#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstddef>
#include <span>

namespace boxcar::native {

// Writes the convolution of images or volumes with checked [arguments] to [out], which has elements and the memory
// format of arguments.channels_last. All tensors are of one number type; [bias] may be undefined.
using ConvolutionFunction = void(const meta::Convolution& arguments, const Tensor& out, const Tensor& input,
                                 const Tensor& weight, const Tensor& bias);
extern DeviceStub<ConvolutionFunction> convolve;

// Extends the arguments of one spatial dimension to two, the first of size 1: a signal is an image of one row.
meta::Convolution forImages(const meta::Convolution& arguments);
// Gives [out], the image that results of the signal that [arguments] describe, a signal's dimensions.
void dropRow(const Tensor& out, const meta::Convolution& arguments);

// Returns how [arguments] read the spatial dimensions of an input of sizes [input] with a weight of sizes [weight]:
// three axes, the first ones of size 1 if there are fewer.
using ConvolvedAxes = std::array<functors::ConvolvedAxis, 3>;
ConvolvedAxes convolvedAxes(const meta::Convolution& arguments, std::span<const int64_t> input,
                            std::span<const int64_t> weight);

}  // namespace boxcar::native
