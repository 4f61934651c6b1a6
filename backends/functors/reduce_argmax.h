#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/backends/functors/vector_names.h>

#include <cstdint>
#include <type_traits>

// The positions of the greatest and least elements.

namespace boxcar::functors {

// The index of the first greatest or least element, or of the first NaN if there is one; as second result, the element.
template <class T, bool greatest>
struct ExtremePlace {
  using C = Compute<T>;
  struct Acc {
    C value;
    int64_t index;
  };
  using Out = int64_t;
  using Second = T;
  static constexpr bool kUnordered = false;

  BOXCAR_HOST_DEVICE static bool isBetter(C a, C b) { return greatest ? a > b : a < b; }
  // Whether [x] replaces [value], which precedes it.
  BOXCAR_HOST_DEVICE static bool replaces(C x, C value) { return (isNan(x) && !isNan(value)) || isBetter(x, value); }

  BOXCAR_HOST_DEVICE static Acc identity() { return {C(0), -1}; }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t index) { return merge(acc, {static_cast<C>(x), index}); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    // Threads may merge later elements before earlier ones.
    return a.index < b.index ? (replaces(b.value, a.value) ? b : a) : (replaces(a.value, b.value) ? a : b);
  }
  BOXCAR_HOST_DEVICE static int64_t finish(Acc acc, int64_t) { return acc.index; }
  BOXCAR_HOST_DEVICE static C second(Acc acc, int64_t) { return acc.value; }
};
template <class T>
struct Argmax : ExtremePlace<T, true> {};
template <class T>
struct Argmin : ExtremePlace<T, false> {};

}  // namespace boxcar::functors
