#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar::cuda {

// What there is of CUDA, in a line for people: "CUDA 13.0, driver 13.0: NVIDIA H200 (141.0 GB)", "CUDA: no device (…)",
// "CUDA: not built, …".
BOXCAR_API std::string summary();

// "13.0" of 13000, which is how CUDA counts versions.
std::string versionText(int version);

// Whether there is a CUDA device. Its kernels are registered then; else they wait for its first tensor.
BOXCAR_API bool isAvailable();

// For the end of a run: waits for the devices that it took memory of, and throws what their kernels found wrong, which
// nobody else may ask for any more.
BOXCAR_API void finishWork();

}  // namespace boxcar::cuda
