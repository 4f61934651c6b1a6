#pragma once

#include <boxcar/ivalue/storage.h>

#include <cstddef>
#include <string>

// Replaces the memory that boxcar allocates for tensors (cached_memory.h). Each piece lies between pages that cannot be
// accessed. By turns it ends at the end of its last page or begins at the start of its first one. The rest of its pages
// is checked when the piece is freed. A freed piece cannot be accessed until many others have been freed.

namespace boxcar::hostile {

// Memory limits for pieces. A request for more throws the Error of a machine that is out of memory.
struct MemoryLimits {
  size_t piece = size_t{4} << 20;
  size_t all = size_t{128} << 20;  // a small piece counts as a whole page
};

// Starts guarding and limiting pieces; before that, the system allocates them as usual.
void startGuarding(const MemoryLimits& limits);

// Returns a resizable storage of [bytes]; a guard page follows its last byte or precedes its first one.
Storage guardedStorage(size_t bytes);

// Returns how many pieces were not freed.
long livePieces() noexcept;

// Writes "3 bytes behind the last page of a piece of 40 bytes", "in a piece of 40 bytes that was freed", or nothing if
// no piece is near. Allocates nothing, so a signal handler may call it.
void describeAddress(const void* address, char* text, size_t size) noexcept;

}  // namespace boxcar::hostile
