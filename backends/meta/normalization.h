#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace boxcar::meta {

// Returns an optional tensor argument, or null if it is absent or undefined.
inline const Tensor* givenTensor(const std::optional<Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? &*tensor : nullptr;
}

// A layer norm of [rows] rows of [length] elements; [normalized] are the last dimensions of the input. The constructor
// throws Error if they are not, or if weight or bias has other sizes.
struct LayerNorm {
  int64_t rows;
  int64_t length;
  DimVector statistics;  // sizes of means and scales: the input's, with 1 for normalised dimensions

  LayerNorm(const Tensor& input, std::span<const int64_t> normalized, const Tensor* weight, const Tensor* bias);
};

// Throws Error if there are no channels, groups or pixels ([length]), if [groups] does not divide [channels], or if
// weight or bias does not have [channels] elements.
void checkGroupNorm(const Tensor& input, const Tensor* weight, const Tensor* bias, int64_t channels, int64_t length,
                    int64_t groups);
// Throws Error if [input] does not have samples * channels * length elements.
void checkGroupNormElements(std::string_view op, const Tensor& input, int64_t samples, int64_t channels,
                            int64_t length);

// Tensors with one element per channel, or null.
struct ChannelParameters {
  const Tensor* weight;
  const Tensor* bias;
  const Tensor* running_mean;
  const Tensor* running_var;
};
// Throws Error if one of them does not have [channels] elements, or has more than kMaxDims dimensions.
void checkChannels(const ChannelParameters& parameters, int64_t channels);
// Throws Error if the running statistics, which training writes, share memory with each other, with [input] or with the
// other parameters, or if their own elements share memory.
void checkRunningStatistics(const ChannelParameters& parameters, const Tensor& input);

// Returns the type of means and scales, which the parameters must also have: that of [input], or float32 if [input] is
// float16 or bfloat16 and the parameters are float32. Throws Error if the parameters have other types.
ScalarType statisticsType(std::string_view name, const Tensor& input, std::span<const Tensor* const> parameters);

// Whether [tensor], of four or five dimensions, is channels-last in memory.
bool isChannelsLast(const Tensor& tensor);

}  // namespace boxcar::meta
