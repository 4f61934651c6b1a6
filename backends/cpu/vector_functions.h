#pragma once

#include <boxcar/backends/elements/vector_names.h>
#include <boxcar/ivalue/scalar.h>

#include <cstddef>
#include <cstdint>

// Functions of one element for whole rows, made for the vectors of the processor that the program runs on: highway/
// has them, no_highway/ stands in where Highway is left out of the build.

namespace boxcar::cpu {

using elements::VectorFunction;
using elements::VectorPair;

// Writes the results for [n] elements at [in] to [out], which may be [in]. [params] is what the operator was called
// with besides.
template <class T>
using VectorRow = void (*)(const T* in, T* out, size_t n, const Scalar* params);

// Writes the results for [n] pairs of elements at [a] and [b] to [out], which may be one of them. [a_moves] and
// [b_moves] are 1 for elements that follow each other, 0 for one and the same element.
template <class T>
using VectorPairRow = void (*)(const T* a, size_t a_moves, const T* b, size_t b_moves, T* out, size_t n);

// The row of [function] for elements of float or double.
template <class T>
VectorRow<T> vectorRow(VectorFunction function);
template <>
VectorRow<float> vectorRow<float>(VectorFunction function);
template <>
VectorRow<double> vectorRow<double>(VectorFunction function);

template <class T>
VectorPairRow<T> vectorPairRow(VectorPair function);
template <>
VectorPairRow<float> vectorPairRow<float>(VectorPair function);
template <>
VectorPairRow<double> vectorPairRow<double>(VectorPair function);

}  // namespace boxcar::cpu
