#include <boxcar/backends/cpu/vector_optimizers.h>

#include <cmath>

namespace boxcar::cpu {
namespace {

template <class T, class Numbers>
T usedGradient(const Numbers& numbers, T& gradient) {
  if (numbers.is_scaled) gradient /= numbers.scale;
  return numbers.maximize ? -gradient : gradient;
}

template <class T>
void adamRow(const AdamNumbers<T>& numbers, T* weight, T* gradient, T* mean, T* square, T* largest, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    T g = usedGradient(numbers, gradient[i]);
    T w = weight[i] * numbers.weight_factor;
    if (numbers.weight_decay != 0) g += w * numbers.weight_decay;
    const T change = g - mean[i];
    mean[i] = numbers.rest1 < T(0.5) ? mean[i] + numbers.rest1 * change : g - change * numbers.beta1;
    square[i] = square[i] * numbers.beta2 + numbers.rest2 * g * g;
    T most = square[i];
    if (largest != nullptr) {
      most = largest[i] > most || largest[i] != largest[i] ? largest[i] : most;
      largest[i] = most;
    }
    weight[i] = w + numbers.size * (mean[i] / (std::sqrt(most) / numbers.divisor + numbers.eps));
  }
}

template <class T>
void sgdRow(const SgdNumbers<T>& numbers, T* weight, T* gradient, T* buffer, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    T g = usedGradient(numbers, gradient[i]);
    if (numbers.weight_decay != 0) g += weight[i] * numbers.weight_decay;
    if (buffer != nullptr) {
      buffer[i] = numbers.is_first ? g : buffer[i] * numbers.momentum + g * numbers.dampened;
      g = numbers.nesterov ? g + buffer[i] * numbers.momentum : buffer[i];
    }
    weight[i] += numbers.size * g;
  }
}

template <class T>
constexpr OptimizerRows<T> kOptimizerRows = {adamRow<T>, sgdRow<T>};

}  // namespace

template <>
const OptimizerRows<float>& optimizerRows<float>() {
  return kOptimizerRows<float>;
}
template <>
const OptimizerRows<double>& optimizerRows<double>() {
  return kOptimizerRows<double>;
}

}  // namespace boxcar::cpu
