#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::shape {

// A tensor argument that may be left out: null when it is, or when it is undefined.
inline const Tensor* givenTensor(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? &*tensor : nullptr;
}

// A layer norm of [rows] rows of [length] elements: the last dimensions of the input are [normalized]. An Error when
// they are not, or when weight or bias has other sizes.
struct LayerNorm {
  int64_t rows;
  int64_t length;
  DimVector statistics;  // sizes of means and scales: the input's, 1 where it is normalised

  LayerNorm(const Tensor& input, std::span<const int64_t> normalized, const Tensor* weight, const Tensor* bias);
};

// An Error when there are no channels, groups or pixels, [length], when [groups] does not divide [channels], or when
// weight or bias does not have [channels] elements.
void checkGroupNorm(const Tensor& input, const Tensor* weight, const Tensor* bias, int64_t channels, int64_t length,
                    int64_t groups);

// Tensors with an element for each channel, or null.
struct ChannelParameters {
  const Tensor* weight;
  const Tensor* bias;
  const Tensor* running_mean;
  const Tensor* running_var;
};
// An Error when one of them has another number of elements than [channels].
void checkChannels(const ChannelParameters& parameters, int64_t channels);

// The type that means and scales are given in, which the parameters must have, too: that of [input] or, for float16 and
// bfloat16, float32 where the parameters are. An Error when they are of other types.
ScalarType statisticsType(std::string_view name, const Tensor& input, std::span<const Tensor* const> parameters);

// Whether the channels of the pictures of [tensor], of four or five dimensions, are innermost in memory.
bool isChannelsLast(const Tensor& tensor);

}  // namespace boxcar::shape
