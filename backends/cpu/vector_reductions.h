#pragma once

#include <boxcar/backends/functors/vector_names.h>

#include <cstddef>
#include <cstdint>

// Reductions of contiguous floats and doubles, vectorised for the CPU that the program runs on: highway/ implements
// them, and no_highway/ replaces it in builds without Highway.

namespace boxcar::cpu {

using functors::VectorReduction;

template <class T>
struct VectorReduceRows {
  // Reduces [n] elements at [in].
  T (*row)(const T* in, size_t n);
  // Reduces each of [rows] rows of [n] elements, [step] bytes apart, to an element of [out], as row() does. For short
  // rows this costs less.
  void (*rows)(T* out, const char* in, int64_t step, int64_t rows, size_t n);
  // Reduces [rows] rows of [width] elements, [step] bytes apart, into [acc], which holds the outcome of earlier rows.
  // The outcome of a column depends only on its elements, not on [width].
  void (*columns)(T* acc, const char* in, int64_t step, int64_t rows, size_t width);
};

template <class T>
const VectorReduceRows<T>& vectorReduceRows(VectorReduction reduction);
template <>
const VectorReduceRows<float>& vectorReduceRows<float>(VectorReduction reduction);
template <>
const VectorReduceRows<double>& vectorReduceRows<double>(VectorReduction reduction);

}  // namespace boxcar::cpu
