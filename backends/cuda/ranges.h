#pragma once

#include <boxcar/backends/cuda/driver.h>

namespace boxcar::cuda {

// If a tool such as Nsight Systems listens, which the environment variable NVTX_INJECTION64_PATH says, each operator
// call is shown from now on as a named range on the tool's timeline. Otherwise calls cost nothing extra.
void nameCallsForTools(const Driver& driver);

}  // namespace boxcar::cuda
