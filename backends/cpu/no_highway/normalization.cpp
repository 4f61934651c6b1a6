#include <boxcar/backends/cpu/vector_normalization.h>

#include <numeric>

namespace boxcar::cpu {
namespace {

template <class T>
void normalizeRow(const T* in, T* out, size_t n, T mean, T scale, const T* weight, const T* bias) {
  for (size_t i = 0; i < n; ++i) {
    const T x = (in[i] - mean) * scale;
    out[i] = x * (weight != nullptr ? weight[i] : T(1)) + (bias != nullptr ? bias[i] : T(0));
  }
}

template <class T>
void scaleRow(const T* in, T* out, size_t n, T scale, T shift) {
  for (size_t i = 0; i < n; ++i) out[i] = in[i] * scale + shift;
}

template <class T>
void scaleColumnsRow(const T* in, T* out, size_t n, const T* scale, const T* shift) {
  for (size_t i = 0; i < n; ++i) out[i] = in[i] * scale[i] + shift[i];
}

template <class T>
void gradientSumsOfRow(const T* gradient, const T* in, const T* weight, size_t n, T mean, T* sums) {
  constexpr size_t kParts = 16;
  T parts[2][kParts] = {};
  for (size_t i = 0; i < n; ++i) {
    const T weighted = gradient[i] * weight[i];
    parts[0][i % kParts] += weighted;
    parts[1][i % kParts] += weighted * (in[i] - mean);
  }
  for (size_t k = 0; k < 2; ++k) sums[k] = std::accumulate(parts[k], parts[k] + kParts, T(0));
}

template <class T>
void inputGradientOfRow(const T* gradient, const T* in, const T* weight, T* out, size_t n, T mean, T scale, T shift,
                        T stretch) {
  for (size_t i = 0; i < n; ++i) out[i] = (gradient[i] * weight[i] - shift - (in[i] - mean) * stretch) * scale;
}

template <class T>
void parameterGradientsOfRow(const T* gradient, const T* in, T* of_weight, T* of_bias, size_t n, T mean, T scale) {
  for (size_t i = 0; i < n; ++i) {
    of_weight[i] += gradient[i] * (in[i] - mean) * scale;
    of_bias[i] += gradient[i];
  }
}

template <class T>
constexpr NormalizationRows<T> kNormalizationRows = {normalizeRow<T>,       scaleRow<T>,
                                                     scaleColumnsRow<T>,    gradientSumsOfRow<T>,
                                                     inputGradientOfRow<T>, parameterGradientsOfRow<T>};

}  // namespace

template <>
const NormalizationRows<float>& normalizationRows<float>() {
  return kNormalizationRows<float>;
}
template <>
const NormalizationRows<double>& normalizationRows<double>() {
  return kNormalizationRows<double>;
}

}  // namespace boxcar::cpu
