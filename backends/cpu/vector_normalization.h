#pragma once

#include <cstddef>

// Rows of layer, group and batch normalisation for floats and doubles, vectorised for the CPU that the program runs on.
// [out] may be [in].

namespace boxcar::cpu {

template <class T>
struct NormalizationRows {
  // (in - mean) * scale, times [weight] plus [bias] per element if these are not null.
  void (*normalize)(const T* in, T* out, size_t n, T mean, T scale, const T* weight, const T* bias);
  // in * scale + shift.
  void (*scale)(const T* in, T* out, size_t n, T scale, T shift);
  // in * scale + shift, with a scale and a shift per element.
  void (*scaleColumns)(const T* in, T* out, size_t n, const T* scale, const T* shift);
  // Writes the sum of gradient * weight, and of that times (in - mean), to [sums].
  void (*gradientSums)(const T* gradient, const T* in, const T* weight, size_t n, T mean, T* sums);
  // (gradient * weight - shift - (in - mean) * stretch) * scale.
  void (*inputGradient)(const T* gradient, const T* in, const T* weight, T* out, size_t n, T mean, T scale, T shift,
                        T stretch);
  // Adds gradient * (in - mean) * scale to [of_weight], and the gradient to [of_bias].
  void (*parameterGradients)(const T* gradient, const T* in, T* of_weight, T* of_bias, size_t n, T mean, T scale);
};

template <class T>
const NormalizationRows<T>& normalizationRows();
template <>
const NormalizationRows<float>& normalizationRows<float>();
template <>
const NormalizationRows<double>& normalizationRows<double>();

}  // namespace boxcar::cpu
