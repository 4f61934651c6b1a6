#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/reduction.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/normalization.h>
#include <boxcar/backends/shape/reduction.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kComputedTypes;

using OptionalTensor = std::optional<Tensor>;

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

  // Gives the type of the statistics.
  ScalarType check() const {
    checkCpuOrMeta(input);
    BOXCAR_CHECK(input.dim() >= 2, "batch_norm: expected an input of 2 dimensions at least, got one of shape [{}]",
                 fmt::join(input.sizes(), ", "));
    const Tensor* const parameters[] = {weight, bias, running_mean, running_var};
    for (const Tensor* parameter : parameters) {
      if (parameter != nullptr) commonDevice({&input, parameter});
    }
    BOXCAR_CHECK(training || (running_mean != nullptr && running_var != nullptr),
                 "Expected running_mean and running_var to be defined when training=False");
    shape::checkChannels("running_mean", running_mean, channels());
    shape::checkChannels("running_var", running_var, channels());
    shape::checkChannels("weight", weight, channels());
    shape::checkChannels("bias", bias, channels());
    if (training && running_mean != nullptr) checkNoInternalOverlap(*running_mean);
    if (training && running_var != nullptr) checkNoInternalOverlap(*running_var);
    return shape::statisticsType("batch_norm", input, parameters);
  }
};

// An element for each channel, in float64; of 1 or 0 where there is no tensor.
std::vector<double> channelValues(const Tensor* tensor, int64_t channels, double value) {
  std::vector<double> values(static_cast<size_t>(channels), value);
  if (tensor == nullptr) return values;
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
  for (size_t i = 0; i < values.size(); ++i) to[i] = momentum * values[i] + (1 - momentum) * before[i];
  copyElements(*running, updated);
  running->storage()->bumpVersion();
}

// out = in * factors[channel] + shifts[channel]. [in] and [out] have the same strides: contiguous, or with channels
// last.
template <class T>
void scaleChannels(const Tensor& input, const Tensor& output, const std::vector<T>& factors,
                   const std::vector<T>& shifts) {
  const T* in = input.const_data_ptr<T>();
  T* out = output.mutable_data_ptr<T>();
  const auto channels = static_cast<int64_t>(factors.size());
  const int64_t rows = input.sizes()[0] * channels;
  if (input.numel() == 0) return;
  const int64_t length = input.numel() / rows;
  if (length == 1 || !input.is_contiguous()) {
    const int64_t grain = std::max<int64_t>(1, kParallelGrain / channels);
    return parallelFor(0, input.numel() / channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        normalizationRows<T>().scaleColumns(in + i * channels, out + i * channels, factors.size(), factors.data(),
                                            shifts.data());
      }
    });
  }
  parallelFor(0, rows, std::max<int64_t>(1, kParallelGrain / length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto channel = static_cast<size_t>(i % channels);
      normalizationRows<T>().scale(in + i * length, out + i * length, static_cast<size_t>(length), factors[channel],
                                   shifts[channel]);
    }
  });
}

struct Statistics {
  std::vector<double> means;
  std::vector<double> scales;  // reciprocal standard deviations
};

Tensor oneForEach(const std::vector<double>& values, ScalarType type) {
  const int64_t sizes[] = {static_cast<int64_t>(values.size())};
  const Tensor doubles = Tensor::allocate(sizes, ScalarType::Double);
  std::ranges::copy(values, doubles.mutable_data_ptr<double>());
  return convertTo(doubles, type);
}

// [input] is of float or double.
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
  for (const double variance : variances) result.scales.push_back(1 / std::sqrt(variance + call.eps));
  if (call.training) {
    updateRunning(call.running_mean, result.means, call.momentum);
    const double count = static_cast<double>(input.numel()) / static_cast<double>(channels);
    for (double& variance : variances) variance *= count / (count - 1);
    updateRunning(call.running_var, variances, call.momentum);
  }
  return result;
}

// Whether the result's channels are innermost in memory, as the input's are; else it is contiguous.
bool keepsChannelsLast(const Tensor& input) { return !input.is_contiguous() && shape::isChannelsLast(input); }

Tensor allocateResult(const Tensor& input, ScalarType type) {
  if (!keepsChannelsLast(input)) return Tensor::allocate(input.sizes(), type, input.device());
  return shape::allocateStrided(input.sizes(), shape::denseStrides(input), type, input.device());
}

// float16 and bfloat16 are computed in float32.
std::tuple<Tensor, Tensor, Tensor> run(const BatchNormCall& call) {
  const ScalarType statistics_type = call.check();
  const Tensor& input = call.input;
  const ScalarType type = input.scalar_type();
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const int64_t statistics[] = {call.training ? call.channels() : 0};
  if (input.is_meta()) {
    return {allocateResult(input, type), Tensor::allocate(statistics, statistics_type, input.device()),
            Tensor::allocate(statistics, statistics_type, input.device())};
  }
  const Tensor converted = type == computed ? input : convertTo(input, computed);
  const bool is_laid_out = converted.is_contiguous() ||
                           (shape::isChannelsLast(converted) && shape::isDense(converted.sizes(), converted.strides()));
  const Tensor source = is_laid_out ? converted : toContiguous(converted);
  const Statistics values = statisticsOf(call, source);
  Tensor out = shape::allocateStrided(source.sizes(), source.strides(), computed, input.device());
  const std::vector<double> weights = channelValues(call.weight, call.channels(), 1);
  const std::vector<double> biases = channelValues(call.bias, call.channels(), 0);
  visitScalarType(kComputedTypes, computed, "batch_norm", [&]<class T>(std::type_identity<T>) {
    std::vector<T> factors;
    std::vector<T> shifts;
    for (size_t i = 0; i < weights.size(); ++i) {
      const double factor = values.scales[i] * weights[i];
      factors.push_back(static_cast<T>(factor));
      shifts.push_back(static_cast<T>(biases[i] - values.means[i] * factor));
    }
    scaleChannels<T>(source, out, factors, shifts);
  });
  if (type != computed || source.is_contiguous() == keepsChannelsLast(input)) {
    const Tensor laid_out = allocateResult(input, type);
    copyElements(laid_out, out);
    out = laid_out;
  }
  if (call.training) {
    return {std::move(out), oneForEach(values.means, statistics_type), oneForEach(values.scales, statistics_type)};
  }
  return {std::move(out), Tensor::allocate(statistics, statistics_type), Tensor::allocate(statistics, statistics_type)};
}

std::tuple<Tensor, Tensor, Tensor> batchNorm(const Tensor& input, const OptionalTensor& weight,
                                             const OptionalTensor& bias, const OptionalTensor& running_mean,
                                             const OptionalTensor& running_var, bool training, double momentum,
                                             double eps) {
  return run({input, shape::givenTensor(weight), shape::givenTensor(bias), shape::givenTensor(running_mean),
              shape::givenTensor(running_var), training, momentum, eps});
}

std::tuple<Tensor&, Tensor&, Tensor&> batchNormOut(const Tensor& input, const OptionalTensor& weight,
                                                   const OptionalTensor& bias, const OptionalTensor& running_mean,
                                                   const OptionalTensor& running_var, bool training, double momentum,
                                                   double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  shape::checkOutType("native_batch_norm", out, input.scalar_type());
  const auto [result, mean, scale] = batchNorm(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {writeResult(out, result), writeResult(save_mean, mean), writeResult(save_invstd, scale)};
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("native_batch_norm", BOXCAR_FN(batchNorm));
  m.impl("native_batch_norm.out", BOXCAR_FN(batchNormOut));
}

}  // namespace boxcar::cpu
