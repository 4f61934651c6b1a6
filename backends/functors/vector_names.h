#pragma once

#include <boxcar/backends/functors/pointwise_table.h>

#include <concepts>
#include <cstdint>

// What CPUs with vectors compute by rows: the functors that the tables mark with Vector, and reductions.

#define BOXCAR_EXPAND(...) __VA_ARGS__
// Expands `macro` first, so that it may be a call that gives a macro's name.
#define BOXCAR_APPLY(macro, ...) BOXCAR_APPLY_EXPANDED(macro, __VA_ARGS__)
#define BOXCAR_APPLY_EXPANDED(macro, ...) macro(__VA_ARGS__)
#define BOXCAR_WHEN_OWN_Vector BOXCAR_EXPAND
#define BOXCAR_WHEN_OWN_Plain BOXCAR_NO_LINE
#define BOXCAR_WHEN_OWN_As(functor) BOXCAR_NO_LINE

// X(functor) for functors of one element, float or double.
#define BOXCAR_VECTOR_UNARY_FUNCTIONS(X) \
  BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_UNARY_LINE, BOXCAR_VECTOR_UNARY_LINE, BOXCAR_NO_LINE, X)
#define BOXCAR_VECTOR_UNARY_LINE(X, kind, functor, result, types, vectors, ...) \
  BOXCAR_WHEN_UNARY_##kind(BOXCAR_APPLY(BOXCAR_WHEN_OWN_##vectors, X(functor)))
#define BOXCAR_WHEN_UNARY_Nullary(...)
#define BOXCAR_WHEN_UNARY_Unary(...) __VA_ARGS__
#define BOXCAR_WHEN_UNARY_Binary(...)
#define BOXCAR_WHEN_UNARY_Ternary(...)

// X(functor) for functors of two elements.
#define BOXCAR_VECTOR_BINARY_FUNCTIONS(X) \
  BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_BINARY_LINE, BOXCAR_VECTOR_BINARY_LINE, BOXCAR_NO_LINE, X)
#define BOXCAR_VECTOR_BINARY_LINE(X, kind, functor, result, types, vectors, ...) \
  BOXCAR_WHEN_BINARY_##kind(BOXCAR_APPLY(BOXCAR_WHEN_OWN_##vectors, X(functor)))
#define BOXCAR_WHEN_BINARY_Nullary(...)
#define BOXCAR_WHEN_BINARY_Unary(...)
#define BOXCAR_WHEN_BINARY_Binary(...) __VA_ARGS__
#define BOXCAR_WHEN_BINARY_Ternary(...)

namespace boxcar::functors {

#define BOXCAR_ENUMERATOR(functor) k##functor,
enum class VectorUnary : uint8_t { BOXCAR_VECTOR_UNARY_FUNCTIONS(BOXCAR_ENUMERATOR) };
enum class VectorBinary : uint8_t { BOXCAR_VECTOR_BINARY_FUNCTIONS(BOXCAR_ENUMERATOR) };
#undef BOXCAR_ENUMERATOR

// The functor whose vector rows F has: itself, another one, or kSelect, which has none.
template <template <class> class F>
inline constexpr Functor kVectorSourceOf = Functor::kSelect;
#define BOXCAR_SOURCE_Vector BOXCAR_EXPAND
#define BOXCAR_SOURCE_Plain Select BOXCAR_NO_LINE
#define BOXCAR_SOURCE_As(functor) functor BOXCAR_NO_LINE
#define BOXCAR_FUNCTOR_NUMBER(functor) BOXCAR_PASTED_NUMBER(functor)
#define BOXCAR_PASTED_NUMBER(functor) Functor::k##functor
#define BOXCAR_VECTOR_SOURCE_LINE(X, kind, functor, result, types, vectors, ...) \
  template <>                                                                    \
  inline constexpr Functor kVectorSourceOf<functor> =                            \
      BOXCAR_FUNCTOR_NUMBER(BOXCAR_APPLY(BOXCAR_SOURCE_##vectors, functor));
BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_SOURCE_LINE, BOXCAR_VECTOR_SOURCE_LINE, BOXCAR_NO_LINE, )
#undef BOXCAR_VECTOR_SOURCE_LINE

// `value` is the vector function, or the vector pair, of a functor that has rows of its own.
template <Functor functor>
struct VectorUnaryOf {};
template <Functor functor>
struct VectorBinaryOf {};
#define BOXCAR_NUMBER_VECTOR(functor)                             \
  template <>                                                     \
  struct VectorUnaryOf<Functor::k##functor> {                     \
    static constexpr VectorUnary value = VectorUnary::k##functor; \
  };
BOXCAR_VECTOR_UNARY_FUNCTIONS(BOXCAR_NUMBER_VECTOR)
#undef BOXCAR_NUMBER_VECTOR
#define BOXCAR_NUMBER_VECTOR(functor)                               \
  template <>                                                       \
  struct VectorBinaryOf<Functor::k##functor> {                      \
    static constexpr VectorBinary value = VectorBinary::k##functor; \
  };
BOXCAR_VECTOR_BINARY_FUNCTIONS(BOXCAR_NUMBER_VECTOR)
#undef BOXCAR_NUMBER_VECTOR

enum class VectorReduction : uint8_t {
  kSum,
  kSumOfSquares,
  kSumOfMagnitudes,
  kAmax,  // NaN if there is one
  kAmin,  // NaN if there is one
};

// Base class of reducers that do [reduction] on rows of C; only for float and double.
template <class C, VectorReduction reduction>
struct VectorReduced {};
template <std::floating_point C, VectorReduction reduction>
struct VectorReduced<C, reduction> {
  static constexpr VectorReduction kVector = reduction;
};

}  // namespace boxcar::functors
