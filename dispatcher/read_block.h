#pragma once

#include <boxcar/dispatcher/library.h>

#include <deque>

namespace boxcar::detail {

// Runs [block], whose Library is added to [libraries]. Throws an Error that begins with the file and line of the
// registration that failed; what the block registered before it stays in the Library.
void readBlock(const LibraryBlock& block, std::deque<Library>& libraries);

}  // namespace boxcar::detail
