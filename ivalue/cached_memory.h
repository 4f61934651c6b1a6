#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>

// Where AddressSanitizer is to see every use of a freed block none is kept; GCC and clang tell of it each in its way.
#if defined(__SANITIZE_ADDRESS__)
#define BOXCAR_KEEPS_FREED_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOXCAR_KEEPS_FREED_BLOCKS 0
#endif
#endif
#ifndef BOXCAR_KEEPS_FREED_BLOCKS
#define BOXCAR_KEEPS_FREED_BLOCKS 1
#endif

namespace boxcar {

// Host memory, aligned to 64 bytes, from a cache of small blocks that each thread keeps: what small tensors are made of
// is allocated and freed at every operator call, and a free list is several times faster than malloc.
// Blocks of 4 MiB and more lie in huge pages of 2 MiB where the kernel gives them
// (/sys/kernel/mm/transparent_hugepage/enabled: `always` or `madvise`); the process keeps 64 MiB of them that were
// freed. Throws Error when the system has no memory left.
BOXCAR_API void* allocateCached(size_t bytes);

// Frees what allocateCached gave; [bytes] is what was asked for. Any thread may free.
BOXCAR_API void freeCached(void* memory, size_t bytes) noexcept;

}  // namespace boxcar
