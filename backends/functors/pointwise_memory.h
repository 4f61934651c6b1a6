#pragma once

#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/scalar.h>

namespace boxcar::functors {

// fill_ writes this value everywhere.
template <class T>
struct Fill {
  T value;
  explicit Fill(const Scalar* params) : value(params->to<T>()) {}
  BOXCAR_HOST_DEVICE T operator()() const { return value; }
};

}  // namespace boxcar::functors
