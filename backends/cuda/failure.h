#pragma once

#include <boxcar/backends/elements/host_device.h>
#include <boxcar/backends/elements/refusal.h>

#include <cstdint>

// What kernels find wrong in what a user gave them: an index that is out of bounds, a division by zero. A kernel cannot
// throw; it notes the first failure in memory that the host reads, goes on with some value, and the next operator that
// waits for the device throws it.

namespace boxcar::cuda {

struct Failure {
  elements::Refusal kind;
  int64_t value;  // the index, of [bound]
  int64_t bound;
};

// Notes a failure; of those at the same time any one.
BOXCAR_HOST_DEVICE inline void noteFailure(Failure* failure, elements::Refusal kind, int64_t value = 0,
                                           int64_t bound = 0) {
  failure->value = value;
  failure->bound = bound;
#ifdef __CUDA_ARCH__
  __threadfence_system();
#endif
  failure->kind = kind;
}

// Where kernels on the current device note theirs.
Failure* currentFailure();

// Throws the Error of a failure that was noted on the current device, and forgets it. The device's work must have been
// waited for, or an error may show later.
void throwFailure();

}  // namespace boxcar::cuda
