#pragma once

#include <cstddef>

// Steps of optimisers for rows of elements, floats or doubles, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

// What native::AdamCall says (native/optimizers.h).
template <class T>
struct AdamNumbers {
  T scale;
  T weight_factor;
  T weight_decay;
  T beta1;
  T beta2;
  T rest1;  // 1 - beta1, rounded once
  T rest2;
  T divisor;
  T eps;
  T size;
  bool is_scaled;
  bool maximize;
};

template <class T>
struct SgdNumbers {
  T scale;
  T weight_decay;
  T momentum;
  T dampened;
  T size;
  bool is_scaled;
  bool maximize;
  bool nesterov;
  bool is_first;
};

template <class T>
struct OptimizerRows {
  // [largest] may be null.
  void (*adam)(const AdamNumbers<T>& numbers, T* weight, T* gradient, T* mean, T* square, T* largest, size_t n);
  // [buffer] may be null.
  void (*sgd)(const SgdNumbers<T>& numbers, T* weight, T* gradient, T* buffer, size_t n);
};

template <class T>
const OptimizerRows<T>& optimizerRows();
template <>
const OptimizerRows<float>& optimizerRows<float>();
template <>
const OptimizerRows<double>& optimizerRows<double>();

}  // namespace boxcar::cpu
