#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/layer_norm.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace boxcar::cpu {
namespace {

using native::LayerNormCall;

template <class T>
const T* elementsOf(const Tensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->const_data_ptr<T>();
}

// All tensors are contiguous with elements of T.
template <class T>
void normalizeRows(const LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const T* in = call.input.const_data_ptr<T>();
  const T* weight = elementsOf<T>(call.weight);
  const T* bias = elementsOf<T>(call.bias);
  T* to = out.mutable_data_ptr<T>();
  T* means = mean.mutable_data_ptr<T>();
  T* scales = scale.mutable_data_ptr<T>();
  const int64_t n = call.length;
  const int64_t grain = kParallelGrain / std::max<int64_t>(1, n);
  parallelFor(0, call.rows, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    const auto normalize = normalizationRows<T>().normalize;
    for (int64_t i = begin; i < end; ++i) {
      const Moments<double> moments = rowMoments(in + i * n, n);
      means[i] = static_cast<T>(moments.mean);
      scales[i] = static_cast<T>(1 / std::sqrt(moments.squares / moments.count + call.eps));
      normalize(in + i * n, to + i * n, static_cast<size_t>(n), means[i], scales[i], weight, bias);
    }
  });
}

std::optional<Tensor> toContiguousOrNone(const Tensor* tensor, ScalarType type) {
  if (tensor == nullptr) return std::nullopt;
  return toContiguous(*tensor, type);
}

// float16 and bfloat16 are computed in float32.
void normalize(const LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const ScalarType computed = mean.scalar_type();
  const Tensor source = toContiguous(call.input, computed);
  const std::optional<Tensor> weights = toContiguousOrNone(call.weight, computed);
  const std::optional<Tensor> biases = toContiguousOrNone(call.bias, computed);
  const Tensor result = out.scalar_type() == computed ? out : Tensor::allocate(out.sizes(), computed);
  const LayerNormCall prepared_call{
      source, weights ? &*weights : nullptr, biases ? &*biases : nullptr, call.rows, call.length, call.eps};
  visitScalarType(kFullFloatTypes, computed, "layer_norm",
                  [&]<class T>(std::type_identity<T>) { normalizeRows<T>(prepared_call, result, mean, scale); });
  if (!result.is_same(out)) copyElements(out, result);
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, layerNormRows, cpu::normalize)

}  // namespace boxcar::native
