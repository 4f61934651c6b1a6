#include <boxcar/backends/cpu/lanes.h>
#include <boxcar/backends/cpu/moments.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/vector_normalization.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/layer_norm.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

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
  const int64_t grain = kQuickGrain / 2 / std::max<int64_t>(1, n);
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
  const ScalarType computed = out.scalar_type() == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
  const Tensor source = toContiguous(call.input, computed);
  const std::optional<Tensor> weights = toContiguousOrNone(call.weight, computed);
  const std::optional<Tensor> biases = toContiguousOrNone(call.bias, computed);
  const auto inType = [computed](const Tensor& tensor) {
    return tensor.scalar_type() == computed ? tensor : Tensor::allocate(tensor.sizes(), computed);
  };
  const Tensor result = inType(out);
  const Tensor means = inType(mean);
  const Tensor scales = inType(scale);
  const LayerNormCall prepared_call{
      source, weights ? &*weights : nullptr, biases ? &*biases : nullptr, call.rows, call.length, call.eps};
  visitScalarType(kFullFloatTypes, computed, "layer_norm",
                  [&]<class T>(std::type_identity<T>) { normalizeRows<T>(prepared_call, result, means, scales); });
  if (!result.is_same(out)) copyElements(out, result);
  if (!means.is_same(mean)) copyElements(mean, means);
  if (!scales.is_same(scale)) copyElements(scale, scales);
}

template <class T>
void scaleToUnitRows(const LayerNormCall& call, const Tensor& out, const Tensor* scale) {
  const T* in = call.input.const_data_ptr<T>();
  const T* weight = elementsOf<T>(call.weight);
  T* to = out.mutable_data_ptr<T>();
  T* scales = scale == nullptr ? nullptr : scale->mutable_data_ptr<T>();
  const int64_t n = call.length;
  const auto count = static_cast<T>(n);
  const auto eps = static_cast<T>(call.eps);
  const auto sum_of_squares = vectorReduceRows<T>(VectorReduction::kSumOfSquares).row;
  const int64_t grain = kQuickGrain / 2 / std::max<int64_t>(1, n);
  parallelFor(0, call.rows, std::max<int64_t>(1, grain), [&](int64_t begin, int64_t end) {
    const auto normalize = normalizationRows<T>().normalize;
    for (int64_t i = begin; i < end; ++i) {
      const T factor = 1 / std::sqrt(sum_of_squares(in + i * n, static_cast<size_t>(n)) / count + eps);
      if (scales != nullptr) scales[i] = factor;
      normalize(in + i * n, to + i * n, static_cast<size_t>(n), T(0), factor, weight, nullptr);
    }
  });
}

void scaleToUnit(const LayerNormCall& call, const Tensor& out, const Tensor* scale) {
  visitScalarType(kFullFloatTypes, out.scalar_type(), "rms_norm",
                  [&]<class T>(std::type_identity<T>) { scaleToUnitRows<T>(call, out, scale); });
}

// The gradients of the rows of one chunk.
template <class T>
struct RowGradients {
  const T* g;
  const T* x;
  const T* means;
  const T* scales;
  const T* weight;
  int64_t length;

  void writeInput(int64_t row, T* to) const {
    const T* const gradient = g + row * length;
    const T* const in = x + row * length;
    const T mean = means[row];
    const T scale = scales[row];
    const auto n = static_cast<size_t>(length);
    T sums[2];
    normalizationRows<T>().gradientSums(gradient, in, weight, n, mean, sums);
    // What changes the mean or the variance of a row does not change the result.
    const auto count = static_cast<T>(length);
    const T stretch = sums[1] / count * scale * scale;
    normalizationRows<T>().inputGradient(gradient, in, weight, to + row * length, n, mean, scale, sums[0] / count,
                                         stretch);
  }
  // Adds those of the weight and the bias.
  void addParameters(int64_t row, T* of_weight, T* of_bias) const {
    normalizationRows<T>().parameterGradients(g + row * length, x + row * length, of_weight, of_bias,
                                              static_cast<size_t>(length), means[row], scales[row]);
  }
};

template <class T>
void differentiateRows(const native::LayerNormGradientCall& call, const Tensor* of_input, const Tensor* of_weight,
                       const Tensor* of_bias) {
  const int64_t n = call.length;
  const RowChunks chunks(call.rows);
  const std::vector<T> ones(static_cast<size_t>(call.weight == nullptr ? n : 0), T(1));
  const RowGradients<T> rows{call.grad_out.const_data_ptr<T>(),
                             call.input.const_data_ptr<T>(),
                             call.mean.const_data_ptr<T>(),
                             call.scale.const_data_ptr<T>(),
                             call.weight == nullptr ? ones.data() : call.weight->const_data_ptr<T>(),
                             n};
  const bool has_parameters = of_weight != nullptr || of_bias != nullptr;
  // Of each chunk: the weight's part and the bias' part.
  std::vector<T> parts(static_cast<size_t>(has_parameters ? 2 * chunks.count * n : 0));
  T* const to = of_input == nullptr ? nullptr : of_input->mutable_data_ptr<T>();
  parallelFor(0, chunks.count, kParallelGrain / std::max<int64_t>(1, chunks.size * n) + 1,
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  for (int64_t row = chunks.begin(i); row < chunks.end(i); ++row) {
                    if (to != nullptr) rows.writeInput(row, to);
                    if (has_parameters)
                      rows.addParameters(row, parts.data() + 2 * i * n, parts.data() + (2 * i + 1) * n);
                  }
                }
              });
  for (const bool is_bias : {false, true}) {
    const Tensor* const out = is_bias ? of_bias : of_weight;
    if (out == nullptr) continue;
    T* const sums = out->mutable_data_ptr<T>();
    parallelFor(0, n, kParallelGrain / chunks.count + 1, [&](int64_t begin, int64_t end) {
      std::fill(sums + begin, sums + end, T(0));
      for (int64_t i = 0; i < chunks.count; ++i) {
        const T* const part = parts.data() + (2 * i + (is_bias ? 1 : 0)) * n;
        for (int64_t k = begin; k < end; ++k) sums[k] += part[k];
      }
    });
  }
}

void differentiate(const native::LayerNormGradientCall& call, const Tensor* of_input, const Tensor* of_weight,
                   const Tensor* of_bias) {
  visitScalarType(kFullFloatTypes, call.input.scalar_type(), "native_layer_norm_backward",
                  [&]<class T>(std::type_identity<T>) { differentiateRows<T>(call, of_input, of_weight, of_bias); });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, layerNormRows, cpu::normalize)
BOXCAR_REGISTER_STUB(CPU, rmsNormRows, cpu::scaleToUnit)
BOXCAR_REGISTER_STUB(CPU, layerNormGradients, cpu::differentiate)

}  // namespace boxcar::native
