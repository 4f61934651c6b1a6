#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/backends/functors/vector_names.h>

#include <cstdint>
#include <type_traits>

// Sums, products and counts.

namespace boxcar::functors {

// Sums of integers and bools are int64; those of float16 and bfloat16 are accumulated in float32.
template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
template <class T>
using AccumulatorOf = Compute<SumOf<T>>;

template <class T>
struct Sum : VectorReduced<AccumulatorOf<T>, VectorReduction::kSum> {
  using Acc = AccumulatorOf<T>;
  using Out = SumOf<T>;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return Acc(0); }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return addElements(acc, static_cast<Acc>(x)); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return addElements(a, b); }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct Mean : Sum<T> {
  using Acc = AccumulatorOf<T>;
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t count) { return acc / static_cast<RealOf<Acc>>(count); }
};

// The sum of the elements that are not NaN.
template <class T>
struct Nansum {
  using Acc = AccumulatorOf<T>;
  using Out = SumOf<T>;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return Acc(0); }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) {
    return addElements(acc, isNan(x) ? Acc(0) : static_cast<Acc>(x));
  }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return addElements(a, b); }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct Prod {
  using Acc = AccumulatorOf<T>;
  using Out = SumOf<T>;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return Acc(1); }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return multiplyElements(acc, static_cast<Acc>(x)); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return multiplyElements(a, b); }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct CountNonzero {
  using Acc = int64_t;
  using Out = int64_t;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return 0; }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return acc + (convertElement<bool>(x) ? 1 : 0); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return a + b; }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};

}  // namespace boxcar::functors
