#pragma once

#include <boxcar/backends/cpu/callable_ref.h>

// What threads a build has: those of OpenMP (openmp/), or none (no_openmp/).

namespace boxcar::cpu {

// Whether several threads can work at all.
extern const bool kHasThreadTeam;

// The number of processors that this process may use.
int teamSize();

// Calls work(part) for each part of [0, parts), each in a thread of its own, and waits for all. It must not throw. In a
// process that was forked from one with a team, the calling thread does all parts.
void runTeam(int parts, CallableRef<void(int)> work);

// While it exists, libraries that use OpenMP themselves take at most [count] threads for what the calling thread asks
// of them.
class LibraryThreads final {
 public:
  explicit LibraryThreads(int count);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

 private:
  int before_;
};

}  // namespace boxcar::cpu
