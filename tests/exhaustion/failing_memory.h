#pragma once

namespace boxcar::exhaustion {

// Chooses which of this thread's memory requests from now on fail: the [n]-th, counted from 1, and with [and_all_later]
// all after it. 0: none.
void failRequest(long n, bool and_all_later) noexcept;

// Ends this. Returns whether a request failed.
bool endFailing() noexcept;

// Returns how many pieces of memory are allocated and not freed, over all threads.
long livePieces() noexcept;

}  // namespace boxcar::exhaustion
