#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

// The element functions of family "power" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Pow {
  BOXCAR_HOST_DEVICE T operator()(T base, T exponent) const { return power(base, exponent); }
};

// Exponents with a shorter and more precise computation than pow.
template <class T>
struct Cube {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return multiplyElements(multiplyElements(a, a), a); }
};

template <class T>
struct Square {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return multiplyElements(a, a); }
};

template <class T>
struct Root {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return sqrt(a); }
};

template <class T>
struct InverseRoot {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return divideElements(T(1), sqrt(a)); }
};

template <class T>
struct Inverse {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return divideElements(T(1), a); }
};

template <class T>
struct InverseSquare {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return divideElements(T(1), multiplyElements(a, a)); }
};

}  // namespace boxcar::functors
