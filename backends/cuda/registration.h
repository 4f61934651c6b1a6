#pragma once

#include <boxcar/backends/native/device_function.h>
#include <boxcar/ivalue/macros.h>

// Sets the CUDA implementation of a dense operator's device function when the library is loaded:
//   BOXCAR_CUDA_FUNCTION(native::softmaxLines, softmaxLines)
#define BOXCAR_CUDA_FUNCTION(device_function, function)                                      \
  [[maybe_unused]] static const bool BOXCAR_CONCATENATE(boxcar_cuda_function_, BOXCAR_UID) = \
      (device_function.setCuda(function), true);
