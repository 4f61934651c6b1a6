#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::dense {

// A tensor without dimensions on [device] that holds [number] as [type]. An Error when that does not fit.
Tensor numberOn(Device device, const Scalar& number, ScalarType type);

}  // namespace boxcar::dense
