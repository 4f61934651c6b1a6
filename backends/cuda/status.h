#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/macros.h>

#include <string_view>

namespace boxcar::cuda {

// Throws the Error for [status] unless it is success. [doing] says what failed: "copying 12 bytes to cuda:0".
void check(Status status, std::string_view doing);

// To be called after a launch; throws Error if it failed. Errors of running kernels show up at a later call. With the
// environment variable BOXCAR_CUDA_SYNC=1 this waits for the kernel, so that the operator that caused an error reports
// it.
BOXCAR_API void checkLaunch();
// The same for a launch that returned [status].
BOXCAR_API void checkLaunch(Status status);

// Returns whether BOXCAR_CUDA_SYNC is 1.
bool waitsForEachLaunch();

}  // namespace boxcar::cuda
