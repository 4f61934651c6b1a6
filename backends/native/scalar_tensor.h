#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Returns a zero-dimensional tensor on [device] that holds [number] as [type]. Throws Error if it does not fit.
Tensor numberOn(Device device, const Scalar& number, ScalarType type);

}  // namespace boxcar::native
