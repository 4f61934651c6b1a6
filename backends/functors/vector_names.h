#pragma once

#include <boxcar/backends/functors/pointwise_table.h>

#include <concepts>
#include <cstdint>

// What CPUs with vectors compute by rows: the functors that the tables mark with Vector, and reductions.

#define BOXCAR_EXPAND(...) __VA_ARGS__
#define BOXCAR_WHEN_OWN_Vector BOXCAR_EXPAND
#define BOXCAR_WHEN_OWN_Plain BOXCAR_NO_LINE
#define BOXCAR_WHEN_OWN_As(functor) BOXCAR_NO_LINE

// X(functor) for functors of one element, float or double.
#define BOXCAR_VECTOR_FUNCTIONS(X) \
  BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_FUNCTION_LINE, BOXCAR_VECTOR_FUNCTION_LINE, BOXCAR_NO_LINE, X)
#define BOXCAR_VECTOR_FUNCTION_LINE(X, kind, functor, result, types, vectors, ...) \
  BOXCAR_WHEN_ONE_##kind(BOXCAR_WHEN_OWN_##vectors(X(functor)))
#define BOXCAR_WHEN_ONE_Nullary(...)
#define BOXCAR_WHEN_ONE_Unary(...) __VA_ARGS__
#define BOXCAR_WHEN_ONE_Binary(...)
#define BOXCAR_WHEN_ONE_Ternary(...)

// X(functor) for functors of two elements.
#define BOXCAR_VECTOR_PAIRS(X) \
  BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_PAIR_LINE, BOXCAR_VECTOR_PAIR_LINE, BOXCAR_NO_LINE, X)
#define BOXCAR_VECTOR_PAIR_LINE(X, kind, functor, result, types, vectors, ...) \
  BOXCAR_WHEN_TWO_##kind(BOXCAR_WHEN_OWN_##vectors(X(functor)))
#define BOXCAR_WHEN_TWO_Nullary(...)
#define BOXCAR_WHEN_TWO_Unary(...)
#define BOXCAR_WHEN_TWO_Binary(...) __VA_ARGS__
#define BOXCAR_WHEN_TWO_Ternary(...)

namespace boxcar::functors {

#define BOXCAR_ENUMERATOR(functor) k##functor,
enum class VectorFunction : uint8_t { BOXCAR_VECTOR_FUNCTIONS(BOXCAR_ENUMERATOR) };
enum class VectorPair : uint8_t { BOXCAR_VECTOR_PAIRS(BOXCAR_ENUMERATOR) };
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
  inline constexpr Functor kVectorSourceOf<functor> = BOXCAR_FUNCTOR_NUMBER(BOXCAR_SOURCE_##vectors(functor));
BOXCAR_POINTWISE_TABLES(BOXCAR_VECTOR_SOURCE_LINE, BOXCAR_VECTOR_SOURCE_LINE, BOXCAR_NO_LINE, )
#undef BOXCAR_VECTOR_SOURCE_LINE

// `value` is the vector function, or the vector pair, of a functor that has rows of its own.
template <Functor functor>
struct VectorFunctionOf {};
template <Functor functor>
struct VectorPairOf {};
#define BOXCAR_NUMBER_VECTOR(functor)                                   \
  template <>                                                           \
  struct VectorFunctionOf<Functor::k##functor> {                        \
    static constexpr VectorFunction value = VectorFunction::k##functor; \
  };
BOXCAR_VECTOR_FUNCTIONS(BOXCAR_NUMBER_VECTOR)
#undef BOXCAR_NUMBER_VECTOR
#define BOXCAR_NUMBER_VECTOR(functor)                           \
  template <>                                                   \
  struct VectorPairOf<Functor::k##functor> {                    \
    static constexpr VectorPair value = VectorPair::k##functor; \
  };
BOXCAR_VECTOR_PAIRS(BOXCAR_NUMBER_VECTOR)
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
