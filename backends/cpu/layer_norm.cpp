#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/normalization.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>

namespace boxcar::cpu {
namespace {

constexpr ElementTypes<float, double> kComputedTypes;

struct LayerNormCall {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  double eps;
};

template <class T>
const T* elementsOf(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->const_data_ptr<T>();
}

// All tensors are contiguous and of T.
template <class T>
void normalizeRows(const LayerNormCall& call, const shape::LayerNorm& shape, const Tensor& out, const Tensor& mean,
                   const Tensor& scale) {
  const T* in = call.input.const_data_ptr<T>();
  const T* weight = elementsOf<T>(call.weight);
  const T* bias = elementsOf<T>(call.bias);
  T* to = out.mutable_data_ptr<T>();
  T* means = mean.mutable_data_ptr<T>();
  T* scales = scale.mutable_data_ptr<T>();
  const int64_t n = shape.length;
  const int64_t grain = kParallelGrain / std::max<int64_t>(1, n);
  parallelFor(0, shape.rows, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    const auto normalize = normalizationRows<T>().normalize;
    for (int64_t i = begin; i < end; ++i) {
      const Moments<double> moments = rowMoments(in + i * n, n);
      means[i] = static_cast<T>(moments.mean);
      scales[i] = static_cast<T>(1 / std::sqrt(moments.squares / moments.count + call.eps));
      normalize(in + i * n, to + i * n, static_cast<size_t>(n), means[i], scales[i], weight, bias);
    }
  });
}

// As elements of [type], contiguous.
Tensor prepared(const Tensor& tensor, ScalarType type) {
  return toContiguous(tensor.scalar_type() == type ? tensor : convertTo(tensor, type));
}
std::optional<Tensor> prepared(const Tensor* tensor, ScalarType type) {
  if (tensor == nullptr) return std::nullopt;
  return prepared(*tensor, type);
}

// float16 and bfloat16 are computed in float32.
std::tuple<Tensor, Tensor, Tensor> layerNorm(const Tensor& input, std::span<const int64_t> normalized_shape,
                                             const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                                             double eps) {
  const Tensor* const parameters[] = {shape::givenTensor(weight), shape::givenTensor(bias)};
  checkCpuOrMeta(input);
  for (const Tensor* parameter : parameters) {
    if (parameter != nullptr) commonDevice({&input, parameter});
  }
  const shape::LayerNorm shape(input, normalized_shape, parameters[0], parameters[1]);
  const ScalarType type = input.scalar_type();
  const ScalarType statistics_type = shape::statisticsType("layer_norm", input, parameters);
  const ScalarType computed = type == ScalarType::Double ? type : ScalarType::Float;
  const Device device = input.device();
  Tensor out = Tensor::allocate(input.sizes(), computed, device);
  Tensor mean = Tensor::allocate(shape.statistics, computed, device);
  Tensor scale = Tensor::allocate(shape.statistics, computed, device);
  if (!input.is_meta()) {
    const Tensor source = prepared(input, computed);
    const std::optional<Tensor> weights = prepared(parameters[0], computed);
    const std::optional<Tensor> biases = prepared(parameters[1], computed);
    const LayerNormCall call{source, weights ? &*weights : nullptr, biases ? &*biases : nullptr, eps};
    visitScalarType(kComputedTypes, computed, "layer_norm",
                    [&]<class T>(std::type_identity<T>) { normalizeRows<T>(call, shape, out, mean, scale); });
  }
  if (type != computed) out = convertTo(out, type);
  if (statistics_type != computed) {
    mean = convertTo(mean, statistics_type);
    scale = convertTo(scale, statistics_type);
  }
  return {std::move(out), std::move(mean), std::move(scale)};
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { m.impl("native_layer_norm", BOXCAR_FN(layerNorm)); }

}  // namespace boxcar::cpu
