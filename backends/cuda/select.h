#pragma once

#include <boxcar/ivalue/tensor.h>

namespace boxcar::cuda {

// The places of what is true in [mask], bools that are contiguous, in order: int64, of one dimension. Waits for the
// device, to know how many there are.
Tensor placesOfTrue(const Tensor& mask);

}  // namespace boxcar::cuda
