#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

namespace boxcar::shape {

// The Error of a call with tensors on both devices.
[[noreturn]] inline void failOnTwoDevices(Device one, Device other) {
  BOXCAR_FAIL(
      "Expected all tensors to be on the same device, but found at least two devices, {} and {}! Move one with "
      ".to('{}')",
      one, other, one.is_cpu() ? other : one);
}

// An Error when [found], the device of another tensor of the call, is not [device].
inline void checkSameDevice(Device device, Device found) {
  if (device != found) failOnTwoDevices(device, found);
}

// An Error when the out= argument is not on [device], where the result is.
inline void checkOutputDevice(const Tensor& out, Device device) {
  BOXCAR_CHECK(out.device() == device,
               "Expected out tensor to be on the same device as the result, but found at least two devices, {} and {}!",
               out.device(), device);
}

// For operators whose out= argument must have the result's own dtype: an Error when it has another.
inline void checkOutputType(const Tensor& out, ScalarType dtype) {
  BOXCAR_CHECK(out.scalar_type() == dtype, "Expected out tensor to have dtype {}, but got {} instead", dtypeName(dtype),
               dtypeName(out.scalar_type()));
}

}  // namespace boxcar::shape
