#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar::cuda {

// Returns one human-readable line about CUDA: "CUDA 13.0, driver 13.0: NVIDIA H200 (141.0 GB)", "CUDA: no device (…)",
// "CUDA: not built, …".
BOXCAR_API std::string summary();

// Returns "13.0" for 13000, CUDA's encoding of versions.
std::string versionText(int version);

// Returns whether there is a CUDA device. If so, registers its kernels, which otherwise happens with its first tensor.
BOXCAR_API bool isAvailable();

// To be called at the end of a run: waits for all devices that memory was allocated on and throws the failures that
// their kernels noted, because nothing later would report them.
BOXCAR_API void finishWork();

}  // namespace boxcar::cuda
