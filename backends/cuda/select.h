#pragma once

#include <boxcar/ivalue/tensor.h>

namespace boxcar::cuda {

// Returns the positions of the true elements of [mask], contiguous bools, in order: int64, one-dimensional. Waits for
// the device to learn their number.
Tensor placesOfTrue(const Tensor& mask);

}  // namespace boxcar::cuda
