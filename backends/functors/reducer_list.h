#pragma once

#include <boxcar/backends/functors/pointwise_table.h>

#include <cstddef>
#include <cstdint>

// The reductions of operators, by family. A header reduce_*.h has each family's descriptions, which have
//   Acc, Out                      the accumulator, and the element type of the result
//   identity()                    the Acc of no elements
//   take(acc, x, index)           [acc] with one more element, [index] being its position among the reduced elements
//   merge(a, b)                   the Acc of the elements of both; those of [a] precede those of [b]
//   finish(acc, count)            the result
//   kUnordered                    whether the order of elements affects nothing but rounding
// and may have
//   Op(double param)              the parameter of the call
//   Second, second(acc, count)    a second result
// Every device instantiates its loops from these lists.
//
//   X(reducer, types)

#define BOXCAR_SUM_REDUCERS(X) \
  X(Sum, kAllTypes)            \
  X(Nansum, kFloatingTypes)    \
  X(Prod, kAllTypes)           \
  X(Mean, kContinuousTypes)    \
  X(CountNonzero, kAllTypes)

#define BOXCAR_EXTREME_REDUCERS(X) \
  X(Amax, kRealAndBoolTypes)       \
  X(Amin, kRealAndBoolTypes)       \
  X(Aminmax, kRealAndBoolTypes)

#define BOXCAR_PLACE_REDUCERS(X) \
  X(Argmax, kRealAndBoolTypes)   \
  X(Argmin, kRealAndBoolTypes)

#define BOXCAR_MOMENT_REDUCERS(X) \
  X(Var, kContinuousTypes)        \
  X(Std, kContinuousTypes)

#define BOXCAR_NORM_REDUCERS(X) \
  X(L2Norm, kContinuousTypes)   \
  X(L1Norm, kContinuousTypes)   \
  X(L0Norm, kContinuousTypes)   \
  X(LpNorm, kContinuousTypes)   \
  X(InfNorm, kContinuousTypes)  \
  X(NegInfNorm, kContinuousTypes)

#define BOXCAR_TRUTH_REDUCERS(X) \
  X(Any, kAllTypes)              \
  X(All, kAllTypes)

// clang-format off
#define BOXCAR_REDUCERS(X) \
  BOXCAR_SUM_REDUCERS(X) BOXCAR_EXTREME_REDUCERS(X) BOXCAR_PLACE_REDUCERS(X) BOXCAR_MOMENT_REDUCERS(X) BOXCAR_NORM_REDUCERS(X) BOXCAR_TRUTH_REDUCERS(X)
// clang-format on

namespace boxcar::functors {

#define BOXCAR_DECLARE_REDUCER(reducer, types) \
  template <class T>                           \
  struct reducer;
BOXCAR_REDUCERS(BOXCAR_DECLARE_REDUCER)
#undef BOXCAR_DECLARE_REDUCER

#define BOXCAR_ENUMERATOR(reducer, types) k##reducer,
enum class Reducer : uint8_t { BOXCAR_REDUCERS(BOXCAR_ENUMERATOR) kCount };
#undef BOXCAR_ENUMERATOR
inline constexpr size_t kReducers = static_cast<size_t>(Reducer::kCount);

}  // namespace boxcar::functors
