#pragma once

#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/refusal.h>

#include <cstdint>

// Errors that kernels detect in user input: an index out of bounds, a division by zero. A kernel cannot throw. It notes
// the first failure in memory that the host reads and continues with some value; the next operator that waits for the
// device throws the error.

namespace boxcar::cuda {

struct Failure {
  functors::Refusal kind;
  int64_t value;  // the index that is out of bounds for [bound]
  int64_t bound;
};

// Notes a failure. Of several concurrent failures, any one may be kept.
BOXCAR_HOST_DEVICE inline void noteFailure(Failure* failure, functors::Refusal kind, int64_t value = 0,
                                           int64_t bound = 0) {
  failure->value = value;
  failure->bound = bound;
#ifdef __CUDA_ARCH__
  __threadfence_system();
#endif
  failure->kind = kind;
}

// Returns where kernels on the current device note failures.
Failure* currentFailure();

// Throws the Error of a failure noted on the current device, and clears it. Wait for the device's work first, or a
// failure may show only later.
void throwFailure();

}  // namespace boxcar::cuda
