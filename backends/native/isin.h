#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::native {

// Writes to [found], bools, whether each of [elements] is in [tested], or is not, if [invert]. NaN is never found. Both
// are contiguous and have one dtype, which is neither bool nor complex.
using FindEach = void(const Tensor& found, const Tensor& elements, const Tensor& tested, bool invert);
extern DeviceStub<FindEach> findEach;

}  // namespace boxcar::native
