#include <boxcar/backends/cpu/vector_normalization.h>

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
constexpr NormalizationRows<T> kNormalizationRows = {normalizeRow<T>, scaleRow<T>, scaleColumnsRow<T>};

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
