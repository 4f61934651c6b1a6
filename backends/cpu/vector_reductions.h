#pragma once

#include <boxcar/backends/elements/vector_names.h>

#include <cstddef>
#include <cstdint>

// Reductions of floats and doubles that lie side by side, made for the vectors of the processor that the program runs
// on: highway/ has them, no_highway/ stands in where Highway is left out of the build.

namespace boxcar::cpu {

using elements::VectorReduction;

template <class T>
struct VectorReduceRows {
  // Reduces [n] elements at [in].
  T (*row)(const T* in, size_t n);
  // Reduces [rows] rows of [width] elements each, [step] bytes from each other, into [acc], which holds the outcome of
  // earlier rows. Each column's outcome depends on its elements alone, not on [width].
  void (*columns)(T* acc, const char* in, int64_t step, int64_t rows, size_t width);
};

template <class T>
const VectorReduceRows<T>& vectorReduceRows(VectorReduction reduction);
template <>
const VectorReduceRows<float>& vectorReduceRows<float>(VectorReduction reduction);
template <>
const VectorReduceRows<double>& vectorReduceRows<double>(VectorReduction reduction);

}  // namespace boxcar::cpu
