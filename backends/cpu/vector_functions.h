#pragma once

#include <boxcar/backends/functors/vector_names.h>
#include <boxcar/ivalue/scalar.h>

#include <cstddef>
#include <cstdint>

// Functions of one element for whole rows, vectorised for the CPU that the program runs on: highway/ implements them,
// and no_highway/ replaces it in builds without Highway.

namespace boxcar::cpu {

using functors::VectorBinary;
using functors::VectorUnary;

// Writes the results for [n] elements at [in] to [out], which may be [in]. [params] holds the operator's extra
// arguments.
template <class T>
using VectorUnaryRow = void (*)(const T* in, T* out, size_t n, const Scalar* params);

// Writes the results for [n] pairs of elements at [a] and [b] to [out], which may be one of them. [a_moves] and
// [b_moves] are 1 for contiguous elements, 0 for a single repeated element.
template <class T>
using VectorBinaryRow = void (*)(const T* a, size_t a_moves, const T* b, size_t b_moves, T* out, size_t n,
                                 const Scalar* params);

// Returns the row of [function] for elements of float or double.
template <class T>
VectorUnaryRow<T> vectorUnaryRow(VectorUnary function);
template <>
VectorUnaryRow<float> vectorUnaryRow<float>(VectorUnary function);
template <>
VectorUnaryRow<double> vectorUnaryRow<double>(VectorUnary function);

template <class T>
VectorBinaryRow<T> vectorBinaryRow(VectorBinary function);
template <>
VectorBinaryRow<float> vectorBinaryRow<float>(VectorBinary function);
template <>
VectorBinaryRow<double> vectorBinaryRow<double>(VectorBinary function);

}  // namespace boxcar::cpu
