#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/vector_names.h>

// The element functions of family "hyperbolic" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Sinh {
  static constexpr VectorFunction kVector = VectorFunction::kSinh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return sinh(a); }
};

template <class T>
struct Cosh {
  static constexpr VectorFunction kVector = VectorFunction::kCosh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return cosh(a); }
};

template <class T>
struct Tanh {
  static constexpr VectorFunction kVector = VectorFunction::kTanh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return tanh(a); }
};

template <class T>
struct Asinh {
  static constexpr VectorFunction kVector = VectorFunction::kAsinh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return asinh(a); }
};

template <class T>
struct Acosh {
  static constexpr VectorFunction kVector = VectorFunction::kAcosh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return acosh(a); }
};

template <class T>
struct Atanh {
  static constexpr VectorFunction kVector = VectorFunction::kAtanh;
  BOXCAR_HOST_DEVICE T operator()(T a) const { return atanh(a); }
};

}  // namespace boxcar::functors
