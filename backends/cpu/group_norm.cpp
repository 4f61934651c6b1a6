#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/normalization.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kComputedTypes;

// [samples, groups, channels of a group, elements of a channel], contiguous and of T.
template <class T>
struct GroupNorm {
  const T* in;
  T* out;
  const T* weight;
  const T* bias;
  T* means;
  T* scales;
  int64_t samples;
  int64_t groups;
  int64_t channels;
  int64_t length;
  double eps;

  void normalize(int64_t row) const {
    const int64_t n = channels * length;
    const Moments<double> moments = rowMoments(in + row * n, n);
    const T mean = static_cast<T>(moments.mean);
    const T scale = static_cast<T>(1 / std::sqrt(std::max(moments.squares / moments.count, 0.0) + eps));
    means[row] = mean;
    scales[row] = scale;
    const int64_t first = row % groups * channels;
    for (int64_t k = 0; k < channels; ++k) {
      const T factor = weight == nullptr ? scale : scale * weight[first + k];
      const T shift = (bias == nullptr ? T(0) : bias[first + k]) - mean * factor;
      const int64_t start = row * n + k * length;
      normalizationRows<T>().scale(in + start, out + start, static_cast<size_t>(length), factor, shift);
    }
  }

  void run() const {
    const int64_t grain = kParallelGrain / std::max<int64_t>(1, channels * length);
    parallelFor(0, samples * groups, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) normalize(row);
    });
  }
};

Tensor prepared(const Tensor& tensor, ScalarType type) {
  return toContiguous(tensor.scalar_type() == type ? tensor : convertTo(tensor, type));
}

// float16 and bfloat16 are computed in float32.
std::tuple<Tensor, Tensor, Tensor> groupNorm(const Tensor& input, const std::optional<Tensor>& weight,
                                             const std::optional<Tensor>& bias, int64_t samples, int64_t channels,
                                             int64_t length, int64_t groups, double eps) {
  const Tensor* const parameters[] = {shape::givenTensor(weight), shape::givenTensor(bias)};
  checkCpuOrMeta(input);
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  shape::checkGroupNorm(input, parameters[0], parameters[1], channels, groups);
  int64_t elements = 0;
  const bool fits = samples >= 0 && channels >= 0 && length >= 0 &&
                    !__builtin_mul_overflow(samples, channels, &elements) &&
                    !__builtin_mul_overflow(elements, length, &elements) && elements == input.numel();
  BOXCAR_CHECK(fits, "native_group_norm: an input of {} elements is not one of N={}, C={}, HxW={}", input.numel(),
               samples, channels, length);
  const ScalarType type = input.scalar_type();
  const ScalarType statistics_type = shape::statisticsType("group_norm", input, parameters);
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const Device device = input.device();
  Tensor out = Tensor::allocate(input.sizes(), computed, device);
  const int64_t statistics[] = {samples, groups};
  Tensor mean = Tensor::allocate(statistics, computed, device);
  Tensor scale = Tensor::allocate(statistics, computed, device);
  if (!input.is_meta()) {
    const Tensor source = prepared(input, computed);
    const Tensor weights = parameters[0] != nullptr ? prepared(*parameters[0], computed) : Tensor();
    const Tensor biases = parameters[1] != nullptr ? prepared(*parameters[1], computed) : Tensor();
    visitScalarType(kComputedTypes, computed, "group_norm", [&]<class T>(std::type_identity<T>) {
      const auto elementsOf = [](const Tensor& tensor) {
        return tensor.defined() ? tensor.const_data_ptr<T>() : nullptr;
      };
      GroupNorm<T>{source.const_data_ptr<T>(),
                   out.mutable_data_ptr<T>(),
                   elementsOf(weights),
                   elementsOf(biases),
                   mean.mutable_data_ptr<T>(),
                   scale.mutable_data_ptr<T>(),
                   samples,
                   groups,
                   channels / groups,
                   length,
                   eps}
          .run();
    });
  }
  if (shape::isChannelsLast(input)) {
    const Tensor laid_out = shape::allocateStrided(input.sizes(), shape::denseStrides(input), type, device);
    copyElements(laid_out, out);
    out = laid_out;
  } else if (type != computed) {
    out = convertTo(out, type);
  }
  if (statistics_type != computed) {
    mean = convertTo(mean, statistics_type);
    scale = convertTo(scale, statistics_type);
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("native_group_norm", BOXCAR_FN(groupNorm)); }

}  // namespace boxcar::cpu
