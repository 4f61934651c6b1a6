#pragma once

#include <boxcar/ivalue/macros.h>

namespace boxcar::transforms {

// Registers the kernels at DispatchKey::ZeroTensor, once: making the first zero tensor does it (ivalue/zero_tensor.h).
BOXCAR_API void registerZeroTensorKernels();

}  // namespace boxcar::transforms
