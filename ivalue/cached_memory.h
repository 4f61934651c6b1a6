#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>

// No freed block is kept under AddressSanitizer, which then sees every use after free. GCC and clang differ in macros.
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

// Returns host memory, aligned to 64 bytes. Small blocks come from a cache that each thread keeps: every operator call
// allocates and frees the parts of small tensors, and a free list is several times faster than malloc. Of blocks
// between 8 KiB and 256 KiB, the process keeps up to 32 MiB of freed ones. Larger blocks lie in huge pages of 2 MiB
// where the kernel provides them (/sys/kernel/mm/transparent_hugepage/enabled: `always` or `madvise`). Of these, the
// process keeps what it lately had in use at once and has not now, and some to spare, at most 256 MiB
// (kept_regions.h). Throws Error when the system has no memory left.
BOXCAR_API void* allocateCached(size_t bytes);

// Frees what allocateCached returned; [bytes] is the size that was asked for. Any thread may free.
BOXCAR_API void freeCached(void* memory, size_t bytes) noexcept;

}  // namespace boxcar
