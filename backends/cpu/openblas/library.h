#pragma once

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>

namespace boxcar::cpu::openblas {

// Returns whether the library is available. The first call opens it.
bool isAvailable();

// Returns the address of one of its functions; null if the library or the function is missing.
void* findSymbol(const char* name);

// Hold one while a library function runs: the library then uses as many threads as kernels do.
class Threads final {
 public:
  Threads();

 private:
  LibraryThreads scope_;
};

}  // namespace boxcar::cpu::openblas
