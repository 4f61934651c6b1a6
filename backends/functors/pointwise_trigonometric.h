#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <numbers>

// The element functions of family "trigonometric" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Sin {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return sin(a); }
};

template <class T>
struct Cos {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return cos(a); }
};

template <class T>
struct Tan {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return tan(a); }
};

template <class T>
struct Asin {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return asin(a); }
};

template <class T>
struct Acos {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return acos(a); }
};

template <class T>
struct Atan {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return atan(a); }
};

// sin(pi a) / (pi a)
template <class T>
struct Sinc {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if (a == T(0)) return T(1);
    const T angle = a * static_cast<T>(std::numbers::pi);
    return sin(angle) / angle;
  }
};

}  // namespace boxcar::functors
