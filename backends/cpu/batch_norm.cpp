#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/functors/batch_norm.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/native/batch_norm.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/reduction.h>

#include <algorithm>
#include <vector>

namespace boxcar::cpu {
namespace {

// Returns an element for each channel, in float64; [value] (1 or 0) if there is no tensor.
std::vector<double> channelValues(const Tensor* tensor, int64_t channels, double value) {
  std::vector<double> values(static_cast<size_t>(channels), value);
  if (tensor == nullptr) return values;
  if (tensor->scalar_type() == ScalarType::Float && tensor->is_contiguous()) {
    std::copy_n(tensor->const_data_ptr<float>(), channels, values.data());
    return values;
  }
  const Tensor doubles = toContiguous(convertTo(*tensor, ScalarType::Double));
  std::copy_n(doubles.const_data_ptr<double>(), channels, values.data());
  return values;
}

// Moves [running] towards [values] by [momentum].
void updateRunning(const Tensor* running, const std::vector<double>& values, double momentum) {
  if (running == nullptr) return;
  const auto channels = static_cast<int64_t>(values.size());
  const std::vector<double> before = channelValues(running, channels, 0);
  const Tensor updated = Tensor::allocate(running->sizes(), ScalarType::Double);
  auto* to = updated.mutable_data_ptr<double>();
  for (size_t i = 0; i < values.size(); ++i) to[i] = runningStatistic(before[i], values[i], momentum);
  copyElements(*running, updated);
}

// out = in * factors[channel] + shifts[channel]. [in] and [out] have the same strides: contiguous or channels-last.
template <class T>
void scaleChannels(const Tensor& input, const Tensor& output, const std::vector<T>& factors,
                   const std::vector<T>& shifts) {
  const T* in = input.const_data_ptr<T>();
  T* out = output.mutable_data_ptr<T>();
  const auto channels = static_cast<int64_t>(factors.size());
  const int64_t rows = input.sizes()[0] * channels;
  if (input.numel() == 0) return;
  const int64_t length = input.numel() / rows;
  const NormalizationRows<T>& kernels = normalizationRows<T>();
  if (length == 1 || !input.is_contiguous()) {
    const int64_t grain = std::max<int64_t>(1, kQuickGrain / channels);
    return parallelFor(0, input.numel() / channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        kernels.scaleColumns(in + i * channels, out + i * channels, factors.size(), factors.data(), shifts.data());
      }
    });
  }
  parallelFor(0, rows, std::max<int64_t>(1, kQuickGrain / length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto channel = static_cast<size_t>(i % channels);
      kernels.scale(in + i * length, out + i * length, static_cast<size_t>(length), factors[channel], shifts[channel]);
    }
  });
}

struct Statistics {
  std::vector<double> means;
  std::vector<double> scales;  // reciprocal standard deviations
};

void writeChannels(const Tensor& to, const std::vector<double>& values) {
  const Tensor doubles = Tensor::allocate(to.sizes(), ScalarType::Double);
  std::ranges::copy(values, doubles.mutable_data_ptr<double>());
  copyElements(to, doubles);
}

// [input] has dtype float or double.
Statistics statisticsOf(const BatchNormCall& call, const Tensor& input) {
  Statistics result;
  const int64_t channels = call.channels();
  std::vector<double> variances;
  if (call.training) {
    const auto [variance, mean] = reduceToPair(varianceReduction(), input, ~uint64_t{2}, false, 0);
    result.means = channelValues(&mean, channels, 0);
    variances = channelValues(&variance, channels, 0);
  } else {
    result.means = channelValues(call.running_mean, channels, 0);
    variances = channelValues(call.running_var, channels, 0);
  }
  result.scales.resize(variances.size());
  for (size_t i = 0; i < variances.size(); ++i) result.scales[i] = reciprocalDeviation(variances[i], call.eps);
  if (call.training) {
    updateRunning(call.running_mean, result.means, call.momentum);
    const double count = static_cast<double>(input.numel()) / static_cast<double>(channels);
    for (double& variance : variances) variance = unbiasedVariance(variance, count);
    updateRunning(call.running_var, variances, call.momentum);
  }
  return result;
}

// float16 and bfloat16 are computed in float32.
void batchNorm(const BatchNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  if (isSmallFloat(call.input)) {
    const Tensor input = convertTo(call.input, ScalarType::Float);
    const Tensor wide = meta::allocateStrided(input.sizes(), input.strides(), ScalarType::Float, input.device());
    batchNorm(
        {input, call.weight, call.bias, call.running_mean, call.running_var, call.training, call.momentum, call.eps},
        wide, mean, scale);
    return copyElements(out, wide);
  }
  const Statistics values = statisticsOf(call, call.input);
  const std::vector<double> weights = channelValues(call.weight, call.channels(), 1);
  const std::vector<double> biases = channelValues(call.bias, call.channels(), 0);
  visitScalarType(kFullFloatTypes, out.scalar_type(), "batch_norm", [&]<class T>(std::type_identity<T>) {
    std::vector<T> factors(weights.size());
    std::vector<T> shifts(weights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
      const ChannelScale channel(values.means[i], values.scales[i], weights[i], biases[i]);
      factors[i] = static_cast<T>(channel.factor);
      shifts[i] = static_cast<T>(channel.shift);
    }
    scaleChannels<T>(call.input, out, factors, shifts);
  });
  if (!call.training) return;
  writeChannels(mean, values.means);
  writeChannels(scale, values.scales);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, normalizeChannels, cpu::batchNorm)

}  // namespace boxcar::native
