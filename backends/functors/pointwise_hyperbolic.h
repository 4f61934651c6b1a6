#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

// The element functions of family "hyperbolic" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Sinh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return sinh(a); }
};

template <class T>
struct Cosh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return cosh(a); }
};

template <class T>
struct Tanh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return tanh(a); }
};

template <class T>
struct Asinh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return asinh(a); }
};

template <class T>
struct Acosh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return acosh(a); }
};

template <class T>
struct Atanh {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return atanh(a); }
};

}  // namespace boxcar::functors
