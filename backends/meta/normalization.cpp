#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::meta {

LayerNorm::LayerNorm(const Tensor& input, std::span<const int64_t> normalized, const Tensor* weight,
                     const Tensor* bias) {
  BOXCAR_CHECK(!normalized.empty(),
               "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
               "normalized_shape = []");
  const auto checkSizes = [&](std::string_view name, const Tensor* tensor) {
    BOXCAR_CHECK(
        tensor == nullptr || std::ranges::equal(tensor->sizes(), normalized),
        "Expected {0} to be of same shape as normalized_shape, but got {0} of shape [{1}] and normalized_shape "
        "= [{2}]",
        name, fmt::join(tensor->sizes(), ", "), fmt::join(normalized, ", "));
  };
  checkSizes("weight", weight);
  checkSizes("bias", bias);
  const std::span<const int64_t> sizes = input.sizes();
  const bool fits = sizes.size() >= normalized.size() && std::ranges::equal(sizes.last(normalized.size()), normalized);
  BOXCAR_CHECK(fits, "Given normalized_shape=[{0}], expected input with shape [*, {0}], but got input of size [{1}]",
               fmt::join(normalized, ", "), fmt::join(sizes, ", "));
  rows = 1;
  length = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_normalized = i >= sizes.size() - normalized.size();
    (is_normalized ? length : rows) *= sizes[i];
    statistics.push_back(is_normalized ? 1 : sizes[i]);
  }
}

void checkGroupNorm(const Tensor& input, const Tensor* weight, const Tensor* bias, int64_t channels, int64_t length,
                    int64_t groups) {
  BOXCAR_CHECK(channels > 0, "Expected number of channels to be greater than 0, got {}", channels);
  BOXCAR_CHECK(length > 0, "Expected HxW to be greater than 0, got {}", length);
  BOXCAR_CHECK(groups > 0, "Expected num groups to be greater than 0, got {}", groups);
  BOXCAR_CHECK(channels % groups == 0,
               "Expected number of channels in input to be divisible by num_groups, but got input of shape [{}] and "
               "num_groups={}",
               fmt::join(input.sizes(), ", "), groups);
  const auto checkSizes = [&](std::string_view name, const Tensor* tensor) {
    BOXCAR_CHECK(tensor == nullptr || (tensor->dim() == 1 && tensor->numel() == channels),
                 "Expected {0} to be a vector of size equal to the number of channels in input, but got {0} of shape "
                 "[{1}] and input of shape [{2}]",
                 name, fmt::join(tensor->sizes(), ", "), fmt::join(input.sizes(), ", "));
  };
  checkSizes("weight", weight);
  checkSizes("bias", bias);
}

void checkGroupNormElements(std::string_view op, const Tensor& input, int64_t samples, int64_t channels,
                            int64_t length) {
  int64_t elements = 0;
  const bool fits = samples >= 0 && channels >= 0 && length >= 0 &&
                    !__builtin_mul_overflow(samples, channels, &elements) &&
                    !__builtin_mul_overflow(elements, length, &elements) && elements == input.numel();
  BOXCAR_CHECK(fits, "{}: an input of {} elements is not one of N={}, C={}, HxW={}", op, input.numel(), samples,
               channels, length);
}

void checkChannels(const ChannelParameters& parameters, int64_t channels) {
  const auto check = [channels](std::string_view name, const Tensor* tensor) {
    if (tensor == nullptr) return;
    BOXCAR_CHECK(tensor->numel() == channels, "{} should contain {} elements not {}", name, channels, tensor->numel());
    checkDims(tensor->sizes().size());
  };
  check("running_mean", parameters.running_mean);
  check("running_var", parameters.running_var);
  check("weight", parameters.weight);
  check("bias", parameters.bias);
}

void checkRunningStatistics(const ChannelParameters& parameters, const Tensor& input) {
  for (const Tensor* const running : {parameters.running_mean, parameters.running_var}) {
    if (running == nullptr) continue;
    checkNoInternalOverlap(*running);
    checkNoOverlap(*running, input);
    for (const Tensor* const other :
         {parameters.weight, parameters.bias, parameters.running_mean, parameters.running_var}) {
      if (other != nullptr && other != running) checkNoOverlap(*running, *other);
    }
  }
}

ScalarType statisticsType(std::string_view name, const Tensor& input, std::span<const Tensor* const> parameters) {
  const ScalarType type = input.scalar_type();
  BOXCAR_CHECK(isFloatingType(type), "{} takes floating point elements, not {}", name, dtypeName(type));
  const bool is_small = type == ScalarType::Half || type == ScalarType::BFloat16;
  ScalarType common = ScalarType::Undefined;
  for (const Tensor* parameter : parameters) {
    if (parameter == nullptr) continue;
    const ScalarType own = parameter->scalar_type();
    const bool fits = own == type || (is_small && own == ScalarType::Float);
    BOXCAR_CHECK(fits && (common == ScalarType::Undefined || common == own),
                 "{}: expected the parameters to have dtype {}, like the input, but found {}", name,
                 dtypeName(common == ScalarType::Undefined ? type : common), dtypeName(own));
    common = own;
  }
  return common == ScalarType::Undefined ? type : common;
}

bool isChannelsLast(const Tensor& tensor) {
  const std::span<const int64_t> sizes = tensor.sizes();
  const std::span<const int64_t> strides = tensor.strides();
  const size_t rank = sizes.size();
  if ((rank != 4 && rank != 5) || strides[1] == 0) return false;
  int64_t least = 0;
  for (size_t i = 0; i < rank; ++i) {
    // Channels, then the spatial dimensions from the last one outwards, then the batch.
    const size_t dim = i == 0 ? 1 : i + 1 == rank ? 0 : rank - i;
    if (sizes[dim] == 0 || strides[dim] < least) return false;
    if (dim == 0 && least == strides[1]) return false;
    least = strides[dim] * std::max<int64_t>(sizes[dim], 1);
  }
  return true;
}

}  // namespace boxcar::meta
