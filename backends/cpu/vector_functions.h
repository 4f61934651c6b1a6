#pragma once

#include <boxcar/ivalue/scalar.h>

#include <cstddef>
#include <cstdint>

// Functions of one element for whole rows, made for the vectors of the processor that the program runs on: highway/
// has them, no_highway/ stands in where Highway is left out of the build.

// Functions of one element, float or double.
// clang-format off
#define BOXCAR_VECTOR_FUNCTIONS(X) \
  X(Absolute) X(Negative) X(Square) X(Clamp) X(SquareRoot) X(Reciprocal) X(ReciprocalSquareRoot) \
  X(Floor) X(Ceil) X(Truncate) X(Round) X(Exp) X(Exp2) X(Expm1) X(Log) X(Log2) X(Log10) X(Log1p) \
  X(Logit) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Tanh) X(Asinh) X(Acosh) \
  X(Atanh) X(Erf) X(Erfc) X(Gelu) X(GeluTanh) X(Sigmoid) X(Silu) X(Mish) X(Softplus) X(LogSigmoid) \
  X(Elu) X(Relu) X(LeakyRelu) X(Hardswish)
// clang-format on

// Functions of two elements.
#define BOXCAR_VECTOR_PAIRS(X) X(Add) X(Subtract) X(Multiply) X(Divide) X(Maximum) X(Minimum)

namespace boxcar::cpu {

#define BOXCAR_ENUMERATOR(name) k##name,
enum class VectorFunction : uint8_t { BOXCAR_VECTOR_FUNCTIONS(BOXCAR_ENUMERATOR) };
enum class VectorPair : uint8_t { BOXCAR_VECTOR_PAIRS(BOXCAR_ENUMERATOR) };
#undef BOXCAR_ENUMERATOR

// Writes the results for [n] elements at [in] to [out], which may be [in]. [params] is what the operator was called
// with besides.
template <class T>
using VectorRow = void (*)(const T* in, T* out, size_t n, const Scalar* params);

// Writes the results for [n] pairs of elements at [a] and [b] to [out], which may be one of them. [a_moves] and
// [b_moves] are 1 for elements that follow each other, 0 for one and the same element.
template <class T>
using VectorPairRow = void (*)(const T* a, size_t a_moves, const T* b, size_t b_moves, T* out, size_t n);

// The row of [function] for elements of float or double; null where there is none.
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
