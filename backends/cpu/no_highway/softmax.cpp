#include <boxcar/backends/cpu/vector_softmax.h>

#include <cmath>
#include <limits>

namespace boxcar::cpu {
namespace {

template <class T>
T greatestOf(const T* in, size_t n) {
  T greatest = -std::numeric_limits<T>::infinity();
  for (size_t i = 0; i < n; ++i) greatest = in[i] > greatest ? in[i] : greatest;
  return greatest;
}

template <class T>
void softmaxRow(const T* in, T* out, size_t n) {
  const T greatest = greatestOf(in, n);
  T sum = 0;
  for (size_t i = 0; i < n; ++i) {
    out[i] = std::exp(in[i] - greatest);
    sum += out[i];
  }
  for (size_t i = 0; i < n; ++i) out[i] /= sum;
}

template <class T>
void logSoftmaxRow(const T* in, T* out, size_t n) {
  const T greatest = greatestOf(in, n);
  T sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(in[i] - greatest);
  const T logarithm = std::log(sum);
  for (size_t i = 0; i < n; ++i) out[i] = in[i] - greatest - logarithm;
}

template <class T>
void exponentialsRow(const T* in, const T* shift, T* out, T* sum, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const T y = std::exp(in[i] - shift[i]);
    if (out != nullptr) out[i] = y;
    sum[i] += y;
  }
}

template <class T>
constexpr SoftmaxRows<T> kSoftmaxRows = {softmaxRow<T>, logSoftmaxRow<T>, exponentialsRow<T>};

}  // namespace

template <>
const SoftmaxRows<float>& softmaxRows<float>() {
  return kSoftmaxRows<float>;
}
template <>
const SoftmaxRows<double>& softmaxRows<double>() {
  return kSoftmaxRows<double>;
}

}  // namespace boxcar::cpu
