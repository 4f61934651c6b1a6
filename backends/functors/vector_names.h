#pragma once

#include <concepts>
#include <cstdint>

// The functions that CPUs with vector units have row kernels for; functors name the function that they are.

// Functions of one element, float or double.
// clang-format off
#define BOXCAR_VECTOR_FUNCTIONS(X) \
  X(Abs) X(Neg) X(Square) X(Clamp) X(Sqrt) X(Reciprocal) X(Rsqrt) \
  X(Floor) X(Ceil) X(Trunc) X(Round) X(Exp) X(Exp2) X(Expm1) X(Log) X(Log2) X(Log10) X(Log1p) \
  X(Logit) X(Sin) X(Cos) X(Tan) X(Asin) X(Acos) X(Atan) X(Sinh) X(Cosh) X(Tanh) X(Asinh) X(Acosh) \
  X(Atanh) X(Erf) X(Erfc) X(Gelu) X(GeluTanh) X(Sigmoid) X(Silu) X(Mish) X(Softplus) X(LogSigmoid) \
  X(Elu) X(Relu) X(LeakyRelu) X(Hardswish)
// clang-format on

// Functions of two elements.
#define BOXCAR_VECTOR_PAIRS(X) X(Add) X(Sub) X(Mul) X(Div) X(Maximum) X(Minimum)

namespace boxcar::functors {

#define BOXCAR_ENUMERATOR(name) k##name,
enum class VectorFunction : uint8_t { BOXCAR_VECTOR_FUNCTIONS(BOXCAR_ENUMERATOR) };
enum class VectorPair : uint8_t { BOXCAR_VECTOR_PAIRS(BOXCAR_ENUMERATOR) };
#undef BOXCAR_ENUMERATOR

enum class VectorReduction : uint8_t {
  kSum,
  kSumOfSquares,
  kSumOfMagnitudes,
  kAmax,  // NaN if there is one
  kAmin,     // NaN if there is one
};

// Base class of reducers that do [reduction] on rows of C; only for float and double.
template <class C, VectorReduction reduction>
struct VectorReduced {};
template <std::floating_point C, VectorReduction reduction>
struct VectorReduced<C, reduction> {
  static constexpr VectorReduction kVector = reduction;
};

}  // namespace boxcar::functors
