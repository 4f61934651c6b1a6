#include <boxcar/backends/composite/plain_call.h>
#include <boxcar/backends/meta/normalization.h>
#include <boxcar/backends/native/layer_norm.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <span>
#include <tuple>

// Normalisation layers, built from the operators that also return means and scales.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalTensor = std::optional<Tensor>;

Tensor layerNorm(const Tensor& input, IntSpan normalized_shape, const OptionalTensor& weight,
                 const OptionalTensor& bias, double eps, bool /*cudnn_enable*/) {
  return std::get<0>(boxcar::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

Tensor groupNorm(const Tensor& input, int64_t num_groups, const OptionalTensor& weight, const OptionalTensor& bias,
                 double eps, bool /*cudnn_enabled*/) {
  BOXCAR_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received {}", input.dim());
  const int64_t samples = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  int64_t length = 1;
  for (const int64_t size : input.sizes().subspan(2)) length *= size;
  meta::checkGroupNorm(input, meta::givenTensor(weight), meta::givenTensor(bias), channels, length, num_groups);
  return std::get<0>(boxcar::native_group_norm(input, weight, bias, samples, channels, length, num_groups, eps));
}

meta::ChannelParameters given(const OptionalTensor& weight, const OptionalTensor& bias,
                              const OptionalTensor& running_mean, const OptionalTensor& running_var) {
  return {meta::givenTensor(weight), meta::givenTensor(bias), meta::givenTensor(running_mean),
          meta::givenTensor(running_var)};
}

Tensor batchNorm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                 const OptionalTensor& running_mean, const OptionalTensor& running_var, bool training, double momentum,
                 double eps, bool /*cudnn_enabled*/) {
  // An input without elements has no statistics: missing channels are not checked, and nothing is written.
  if (input.numel() == 0) {
    if (input.dim() >= 2) meta::checkChannels(given(weight, bias, running_mean, running_var), input.sizes()[1]);
    return boxcar::clone(input);
  }
  return std::get<0>(
      boxcar::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

OptionalTensor repeated(const OptionalTensor& tensor, int64_t times) {
  if (meta::givenTensor(tensor) == nullptr) return std::nullopt;
  return boxcar::repeat(*tensor, IntSpan(&times, 1));
}

// Sets the running statistics to the mean over the samples' statistics.
void writeMeans(const OptionalTensor& running, const OptionalTensor& repeats, int64_t samples, int64_t channels) {
  if (meta::givenTensor(running) == nullptr) return;
  const int64_t sizes[] = {samples, channels};
  const int64_t first = 0;
  Tensor target = *running;
  boxcar::copy_(target, boxcar::mean(boxcar::view(*repeats, sizes), IntSpan(&first, 1)));
}

// Runs a batch norm in which every channel of every sample counts as a channel.
Tensor instanceNorm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                    const OptionalTensor& running_mean, const OptionalTensor& running_var, bool use_input_stats,
                    double momentum, double eps, bool cudnn_enabled) {
  const bool has_running = meta::givenTensor(running_mean) != nullptr && meta::givenTensor(running_var) != nullptr;
  BOXCAR_CHECK(use_input_stats || has_running,
               "Expected running_mean and running_var to be defined when use_input_stats is false");
  BOXCAR_CHECK(input.dim() >= 2, "instance_norm: expected an input of 2 dimensions at least, got one of shape [{}]",
               fmt::join(input.sizes(), ", "));
  const int64_t samples = input.sizes()[0];
  const int64_t channels = input.sizes()[1];
  meta::checkChannels(given(weight, bias, running_mean, running_var), channels);
  if (use_input_stats) meta::checkRunningStatistics(given(weight, bias, running_mean, running_var), input);
  DimVector sizes = toDimVector(input.sizes());
  sizes[0] = 1;
  sizes[1] = samples * channels;
  const OptionalTensor means = repeated(running_mean, samples);
  const OptionalTensor variances = repeated(running_var, samples);
  const Tensor out =
      boxcar::batch_norm(boxcar::view(boxcar::contiguous(input), sizes), repeated(weight, samples),
                         repeated(bias, samples), means, variances, use_input_stats, momentum, eps, cudnn_enabled);
  if (use_input_stats) {
    writeMeans(running_mean, means, samples, channels);
    writeMeans(running_var, variances, samples, channels);
  }
  return boxcar::view(out, input.sizes());
}

double epsilonOf(ScalarType type) {
  const bool is_double = type == ScalarType::Double || type == ScalarType::ComplexDouble;
  return is_double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

// Writes the norm of [input] to [out] in one pass, and the reciprocal root mean square to [factor] unless it is null.
// Returns false, and leaves both, if that takes the operators.
bool rmsNormInOnePass(DispatchKeySet keys, const Tensor& input, const meta::LayerNorm& shape, const Tensor* weight,
                      double eps, Tensor& out, Tensor* factor) {
  const ScalarType type = input.scalar_type();
  if (!isPlainCpuCall(keys) || (type != ScalarType::Float && type != ScalarType::Double)) return false;
  if (!input.is_contiguous() || input.numel() == 0) return false;
  if (weight != nullptr && (weight->scalar_type() != type || !weight->is_contiguous())) return false;
  out = Tensor::allocate(input.sizes(), type, input.device());
  if (factor != nullptr) *factor = Tensor::allocate(shape.statistics, type, input.device());
  native::rmsNormRows(input.device(), {input, weight, nullptr, shape.rows, shape.length, eps}, out, factor);
  return true;
}

// float16 and bfloat16 are computed in float32, which the factor then has.
void rmsNormTo(DispatchKeySet keys, const Tensor& input, IntSpan normalized_shape, const OptionalTensor& weight,
               std::optional<double> eps, Tensor& out, Tensor* factor) {
  const Tensor* given = meta::givenTensor(weight);
  const ScalarType type = input.scalar_type();
  const meta::LayerNorm shape(input, normalized_shape, given, nullptr);
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type), "rms_norm takes floating point or complex elements, not {}",
               dtypeName(type));
  const double added = eps.value_or(epsilonOf(type));
  if (rmsNormInOnePass(keys, input, shape, given, added, out, factor)) return;
  const bool is_small = type == ScalarType::Half || type == ScalarType::BFloat16;
  const Tensor x = is_small ? boxcar::to(input, ScalarType::Float) : input;
  DimVector dims;
  for (size_t i = input.sizes().size() - normalized_shape.size(); i < input.sizes().size(); ++i) {
    dims.push_back(static_cast<int64_t>(i));
  }
  const Tensor squares = boxcar::mean(boxcar::square(x), dims, /*keepdim=*/true);
  const Tensor scale = boxcar::rsqrt(boxcar::add(squares, added));
  out = boxcar::mul(x, scale);
  if (given != nullptr) out = boxcar::mul(out, *given);
  if (out.scalar_type() != type) out = boxcar::to(out, type);
  if (factor != nullptr) *factor = scale;
}

std::tuple<Tensor, Tensor> fusedRmsNorm(DispatchKeySet keys, const Tensor& input, IntSpan normalized_shape,
                                        const OptionalTensor& weight, std::optional<double> eps) {
  std::tuple<Tensor, Tensor> results;
  rmsNormTo(keys, input, normalized_shape, weight, eps, std::get<0>(results), &std::get<1>(results));
  return results;
}

Tensor rmsNorm(DispatchKeySet keys, const Tensor& input, IntSpan normalized_shape, const OptionalTensor& weight,
               std::optional<double> eps) {
  Tensor out;
  rmsNormTo(keys, input, normalized_shape, weight, eps, out, nullptr);
  return out;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("layer_norm", BOXCAR_FN(layerNorm));
  m.impl("group_norm", BOXCAR_FN(groupNorm));
  m.impl("batch_norm", BOXCAR_FN(batchNorm));
  m.impl("instance_norm", BOXCAR_FN(instanceNorm));
  m.impl("rms_norm", BOXCAR_FN(rmsNorm));
  m.impl("_fused_rms_norm", BOXCAR_FN(fusedRmsNorm));
}

}  // namespace boxcar::composite
