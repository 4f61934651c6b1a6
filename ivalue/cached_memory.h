#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>

namespace boxcar {

// Host memory, aligned to 64 bytes, from a cache of small blocks that each thread keeps: what small tensors are made of
// is allocated and freed at every operator call, and a free list is several times faster than malloc.
// Throws Error when the system has no memory left.
BOXCAR_API void* allocateCached(size_t bytes);

// Frees what allocateCached gave; [bytes] is what was asked for. Any thread may free.
BOXCAR_API void freeCached(void* memory, size_t bytes) noexcept;

}  // namespace boxcar
