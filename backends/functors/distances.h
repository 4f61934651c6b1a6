#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <limits>

// The distance of two rows is finish() of term() of the absolute differences, merged with merge() starting from 0.

namespace boxcar::functors {

template <class T>
struct SumOfTerms {
  BOXCAR_HOST_DEVICE static T merge(T a, T b) { return a + b; }
  BOXCAR_HOST_DEVICE static T finish(T sum) { return sum; }
};

// p = 0: how many elements differ.
template <class T>
struct L0Distance : SumOfTerms<T> {
  BOXCAR_HOST_DEVICE static T term(T difference) { return difference != 0 ? T(1) : T(0); }
};
// p = 1
template <class T>
struct L1Distance : SumOfTerms<T> {
  BOXCAR_HOST_DEVICE static T term(T difference) { return difference; }
};
// p = 2
template <class T>
struct EuclideanDistance : SumOfTerms<T> {
  BOXCAR_HOST_DEVICE static T term(T difference) { return difference * difference; }
  BOXCAR_HOST_DEVICE static T finish(T sum) { return sqrt(sum); }
};
// p = infinity
template <class T>
struct InfDistance {
  BOXCAR_HOST_DEVICE static T term(T difference) { return difference; }
  BOXCAR_HOST_DEVICE static T merge(T a, T b) { return b > a || isNan(b) ? b : a; }
  BOXCAR_HOST_DEVICE static T finish(T greatest) { return greatest; }
};
template <class T>
struct LpDistance : SumOfTerms<T> {
  T p;
  BOXCAR_HOST_DEVICE explicit LpDistance(T power) : p(power) {}
  BOXCAR_HOST_DEVICE T term(T difference) const { return pow(difference, p); }
  BOXCAR_HOST_DEVICE T finish(T sum) const { return pow(sum, 1 / p); }
};

// Calls body(distance) with the distance of norm [p].
template <class T, class Body>
void visitDistance(T p, const Body& body) {
  if (p == 0) return body(L0Distance<T>());
  if (p == 1) return body(L1Distance<T>());
  if (p == 2) return body(EuclideanDistance<T>());
  if (p == std::numeric_limits<T>::infinity()) return body(InfDistance<T>());
  body(LpDistance<T>(p));
}

}  // namespace boxcar::functors
