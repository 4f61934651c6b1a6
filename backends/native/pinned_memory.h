#pragma once

#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>

namespace boxcar::native {

// CPU memory that a device accesses directly, so that copies from and to it need not block. Allocating and freeing it
// is slow, so use it for memory that is reused.
struct PinnedMemory {
  // Throws Error if there is no device.
  Storage (*allocate)(size_t bytes);
  bool (*holds)(const void* memory);
};
// Set by the CUDA backend.
inline constinit PinnedMemory pinned_memory = {};

// Returns an uninitialised tensor like [tensor], which is on the CPU, in pinned memory.
Tensor emptyPinned(const Tensor& tensor);

}  // namespace boxcar::native
