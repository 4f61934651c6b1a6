#pragma once

#include <boxcar/backends/cuda/driver.h>

namespace boxcar::cuda {

// Where a tool such as Nsight Systems listens, as it says in the environment (NVTX_INJECTION64_PATH), each operator's
// call is a range under its name on the tool's time line from now on. Elsewhere calls cost nothing more.
void nameCallsForTools(const Driver& driver);

}  // namespace boxcar::cuda
