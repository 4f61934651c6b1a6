#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// An input of [N, channels, …] whose channels are normalised, and the per-channel parameters: tensors of one floating
// type with one element per channel, or null.
struct BatchNormCall {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  const Tensor* running_mean;
  const Tensor* running_var;
  bool training;
  double momentum;
  double eps;

  int64_t channels() const { return input.sizes()[1]; }
};

// Writes the normalised elements to [out], which has the input's type and memory format: contiguous or channels-last.
// In training, running statistics, if given, are moved towards those of the input, and [mean] and [scale] receive the
// means and reciprocal standard deviations; otherwise [mean] and [scale] have no elements.
using BatchNormFunction = void(const BatchNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale);
extern DeviceStub<BatchNormFunction> normalizeChannels;

// Tensors of [outer] blocks of [channels] lines of [length] elements, without gaps. All are of one type, float32 or
// float64.
struct ChannelLines {
  int64_t outer;
  int64_t channels;
  int64_t length;
};

// For each channel, writes the sum of the elements of [x] to [sums], and of x * (y - shift) to [products].
using ChannelSumFunction = void(const ChannelLines& lines, const Tensor& x, const Tensor& y, const Tensor& shift,
                                const Tensor& sums, const Tensor& products);
// Writes x * factor + (y - shift) * slope + constant to [out]; the last four have an element for each channel.
using ChannelBlendFunction = void(const ChannelLines& lines, const Tensor& x, const Tensor& y, const Tensor& factor,
                                  const Tensor& shift, const Tensor& slope, const Tensor& constant, const Tensor& out);
// A device that has none takes the operators that they are made of.
extern DeviceStub<ChannelSumFunction> channelSums;
extern DeviceStub<ChannelBlendFunction> blendChannels;

}  // namespace boxcar::native
