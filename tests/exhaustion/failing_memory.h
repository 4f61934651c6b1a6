#pragma once

namespace boxcar::exhaustion {

// Which requests for memory fail, of those that the thread makes from now on: the [n]-th, counted from 1, and where
// [and_all_later] those behind it, too. 0: none.
void failRequest(long n, bool and_all_later) noexcept;

// Ends that. Whether a request failed.
bool endFailing() noexcept;

// How many pieces of memory there are that were given and not taken back, by all threads.
long livePieces() noexcept;

}  // namespace boxcar::exhaustion
