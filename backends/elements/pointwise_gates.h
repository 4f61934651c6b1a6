#pragma once

#include <boxcar/backends/elements/functions.h>
#include <boxcar/backends/elements/host_device.h>

// The element functions of family "gates" in pointwise_table.h.

namespace boxcar::elements {

template <class T>
struct Sloped {
  BOXCAR_HOST_DEVICE T operator()(T a, T slope) const { return a > T(0) ? a : a * slope; }
};

template <class T>
struct Gated {
  BOXCAR_HOST_DEVICE T operator()(T a, T gate) const { return a / (T(1) + exp(-gate)); }
};

}  // namespace boxcar::elements
