#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/backends/functors/vector_names.h>

#include <cstdint>
#include <limits>

// Norms of vectors.

namespace boxcar::functors {

template <class T>
using Magnitude = RealOf<Compute<T>>;

template <class T>
BOXCAR_HOST_DEVICE Magnitude<T> magnitudeOf(T x) {
  return abs(static_cast<Compute<T>>(x));
}

// Sums a function of each element. VectorReduction does not take complex rows.
template <class T>
struct MagnitudeSum {
  using Acc = Magnitude<T>;
  using Out = RealOf<T>;
  static constexpr bool kUnordered = true;
  BOXCAR_HOST_DEVICE static Acc identity() { return 0; }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return a + b; }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return acc; }
};

template <class T>
struct L2Norm : MagnitudeSum<T>, VectorReduced<Compute<T>, VectorReduction::kSumOfSquares> {
  using Acc = Magnitude<T>;
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) {
    if constexpr (kIsComplex<T>)
      return acc + (x.real() * x.real() + x.imag() * x.imag());
    else
      return acc + static_cast<Acc>(x) * static_cast<Acc>(x);
  }
  BOXCAR_HOST_DEVICE static Acc finish(Acc acc, int64_t) { return sqrt(acc); }
};

template <class T>
struct L1Norm : MagnitudeSum<T>, VectorReduced<Compute<T>, VectorReduction::kSumOfMagnitudes> {
  using Acc = Magnitude<T>;
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return acc + magnitudeOf(x); }
};

template <class T>
struct L0Norm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) {
    return acc + (convertElement<bool>(x) ? Acc(1) : Acc(0));
  }
};

template <class T>
struct LpNorm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  explicit LpNorm(double order) : p(static_cast<Acc>(order)) {}
  BOXCAR_HOST_DEVICE Acc take(Acc acc, T x, int64_t) const { return acc + pow(magnitudeOf(x), p); }
  BOXCAR_HOST_DEVICE Acc finish(Acc acc, int64_t) const { return pow(acc, Acc(1) / p); }
  Acc p;
};

template <class T, bool greatest>
struct ExtremeNorm : MagnitudeSum<T> {
  using Acc = Magnitude<T>;
  BOXCAR_HOST_DEVICE static Acc identity() { return greatest ? Acc(0) : std::numeric_limits<Acc>::infinity(); }
  BOXCAR_HOST_DEVICE static Acc take(Acc acc, T x, int64_t) { return merge(acc, magnitudeOf(x)); }
  BOXCAR_HOST_DEVICE static Acc merge(Acc a, Acc b) { return (greatest ? a > b : a < b) || isNan(a) ? a : b; }
};
template <class T>
struct InfNorm : ExtremeNorm<T, true> {};
template <class T>
struct NegInfNorm : ExtremeNorm<T, false> {};

}  // namespace boxcar::functors
