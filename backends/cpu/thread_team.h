#pragma once

#include <boxcar/backends/cpu/callable_ref.h>

// The threads of a build: those of OpenMP (openmp/), or none (no_openmp/).

namespace boxcar::cpu {

// Whether work can run in several threads at all.
extern const bool kHasThreadTeam;

// Returns the number of processors that this process may use.
int teamSize();

// Calls work(part) for each part of [0, parts), each in its own thread, and waits for all. [work] must not throw. In a
// process forked from one with a team, the calling thread runs all parts.
void runTeam(int parts, CallableRef<void(int)> work);

// During its lifetime, libraries that use OpenMP themselves use at most [count] threads for calls from the current
// thread.
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
