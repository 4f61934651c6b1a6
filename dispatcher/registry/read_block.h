#pragma once

#include <boxcar/dispatcher/registry/library.h>

#include <deque>

namespace boxcar::detail {

// Runs [block] and adds its Library to [libraries]. Throws an Error that begins with the file and line of the
// registration that failed; earlier registrations of the block stay in the Library.
void readBlock(const LibraryBlock& block, std::deque<Library>& libraries);

}  // namespace boxcar::detail
