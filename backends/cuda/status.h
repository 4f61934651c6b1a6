#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <string_view>

namespace boxcar::cuda {

// Throws the Error of [status], unless it is success. [doing] says what failed: "copying 12 bytes to cuda:0".
void check(Status status, std::string_view doing);

// After a launch: an Error when it failed. Errors of kernels that run show at a later call; with the environment
// variable BOXCAR_CUDA_SYNC=1 this waits for the kernel, so that the operator that caused one reports it.
BOXCAR_API void checkLaunch();

// Whether BOXCAR_CUDA_SYNC is 1.
bool waitsForEachLaunch();

}  // namespace boxcar::cuda
