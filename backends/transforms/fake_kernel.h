#pragma once

#include <boxcar/ivalue/macros.h>

namespace boxcar::transforms {

// Registers the kernel for calls on fake tensors at DispatchKey::Fake, once.
BOXCAR_API void registerFakeKernel();

}  // namespace boxcar::transforms
