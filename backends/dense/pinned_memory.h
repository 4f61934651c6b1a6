#pragma once

#include <boxcar/ivalue/storage.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>

namespace boxcar::dense {

// Memory of the CPU that a device reads and writes directly, so that copies from and to it need nobody to wait. Having
// it, and giving it back, takes a while: it is for what is used again and again.
struct PinnedMemory {
  // An Error where there is no device.
  Storage (*allocate)(size_t bytes);
  bool (*holds)(const void* memory);
};
// Set by the backend of CUDA.
inline constinit PinnedMemory pinned_memory = {};

// A tensor like [tensor], which is on the CPU, in pinned memory; its elements are not set.
Tensor emptyPinned(const Tensor& tensor);

}  // namespace boxcar::dense
