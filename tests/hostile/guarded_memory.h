#pragma once

#include <boxcar/ivalue/storage.h>

#include <cstddef>
#include <string>

// All memory that boxcar makes tensors of (cached_memory.h), each piece between pages that cannot be touched: it ends
// where its last page does, or begins where its first one does, in turns. What lies between a piece and the other end
// of its pages is looked at when the piece is freed. A freed piece cannot be touched until many others have been freed.

namespace boxcar::hostile {

// How much memory there is for pieces: a request for more is the Error that it is where a machine has no more.
struct MemoryLimits {
  size_t piece = size_t{4} << 20;
  size_t all = size_t{128} << 20;  // a small piece counts as the page that it has
};

// From now on pieces are guarded and limited; before they come from the system as they are.
void startGuarding(const MemoryLimits& limits);

// A storage of [bytes] that can be resized; the guarded page begins at its very end, or ends at its beginning.
Storage guardedStorage(size_t bytes);

// How many pieces there are that were not freed.
long livePieces() noexcept;

// "3 bytes behind the last page of a piece of 40 bytes", "in a piece of 40 bytes that was freed", or nothing where no
// piece is near. Allocates nothing: it may be called from a signal handler.
void describeAddress(const void* address, char* text, size_t size) noexcept;

}  // namespace boxcar::hostile
