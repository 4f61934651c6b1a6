#pragma once

#include <cstddef>

// Parts of softmax for rows of floats or doubles, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

template <class T>
struct SoftmaxRows {
  // Writes the softmax, or its logarithm, of [n] contiguous elements. [out] may be [in].
  void (*softmax)(const T* in, T* out, size_t n);
  void (*log_softmax)(const T* in, T* out, size_t n);
  // For each of [n] columns, writes exp(in - shift) to [out], unless that is null, and adds it to [sum].
  void (*exponentials)(const T* in, const T* shift, T* out, T* sum, size_t n);
};

template <class T>
const SoftmaxRows<T>& softmaxRows();
template <>
const SoftmaxRows<float>& softmaxRows<float>();
template <>
const SoftmaxRows<double>& softmaxRows<double>();

}  // namespace boxcar::cpu
