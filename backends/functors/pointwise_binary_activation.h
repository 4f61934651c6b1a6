#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

// The element functions of family "binary_activation" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Prelu {
  BOXCAR_HOST_DEVICE T operator()(T a, T slope) const { return a > T(0) ? a : a * slope; }
};

template <class T>
struct Glu {
  BOXCAR_HOST_DEVICE T operator()(T a, T gate) const { return a / (T(1) + exp(-gate)); }
};

}  // namespace boxcar::functors
