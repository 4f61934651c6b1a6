#pragma once

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>

namespace boxcar::cpu::openblas {

// Whether the library is there. The first call opens it.
bool isAvailable();

// The address of one of its functions; null when the library or the function is missing.
void* findSymbol(const char* name);

// To be held while one of its functions runs: it takes as many threads as kernels do.
class Threads final {
 public:
  Threads();

 private:
  LibraryThreads scope_;
};

}  // namespace boxcar::cpu::openblas
