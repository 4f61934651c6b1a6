#pragma once

#include <cstddef>

// Sums of deviations of a row of floats or doubles, vectorised for the CPU that the program runs on.

namespace boxcar::cpu {

template <class T>
struct Deviations {
  T sum;      // of x - shift
  T squares;  // of (x - shift)²
};

template <class T>
Deviations<T> sumDeviations(const T* in, size_t n, T shift);
template <>
Deviations<float> sumDeviations<float>(const float* in, size_t n, float shift);
template <>
Deviations<double> sumDeviations<double>(const double* in, size_t n, double shift);

}  // namespace boxcar::cpu
