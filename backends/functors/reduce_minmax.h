#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/backends/functors/vector_names.h>

#include <cstdint>
#include <limits>

// Greatest and least elements.

namespace boxcar::functors {

// The value that any other replaces.
template <class T, bool greatest>
BOXCAR_HOST_DEVICE constexpr T worstOf() {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) {
    return greatest ? -Limits::infinity() : Limits::infinity();
  } else {
    return greatest ? Limits::lowest() : Limits::max();
  }
}

// The greatest or least element; NaN if there is one.
template <class T, bool greatest>
struct Extreme : VectorReduced<Compute<T>, greatest ? VectorReduction::kAmax : VectorReduction::kAmin> {
  using Acc = Compute<T>;
  using Out = T;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return worstOf<Acc, greatest>(); }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return merge(acc, static_cast<Acc>(x)); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return (greatest ? a > b : a < b) || isNan(a) ? a : b; }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};
template <class T>
struct Amax : Extreme<T, true> {};
template <class T>
struct Amin : Extreme<T, false> {};

// The least element and, as second result, the greatest.
template <class T>
struct Aminmax {
  struct Acc {
    Compute<T> least;
    Compute<T> greatest;
  };
  using Out = T;
  using Second = T;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return {Amin<T>::identity(), Amax<T>::identity()}; }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) {
    return {Amin<T>::take(acc.least, x, 0), Amax<T>::take(acc.greatest, x, 0)};
  }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) {
    return {Amin<T>::merge(a.least, b.least), Amax<T>::merge(a.greatest, b.greatest)};
  }
  BOXCAR_HOST_DEVICE static Compute<T> finish(Acc acc, int64_t) { return acc.least; }
  BOXCAR_HOST_DEVICE static Compute<T> second(Acc acc, int64_t) { return acc.greatest; }
};

}  // namespace boxcar::functors
