#pragma once

#include <cstdio>
#include <exception>

namespace boxcar::codegen {

// The body of a generator's main(): runs [generate] and returns the exit status. Errors go to stderr, prefixed with
// [name].
inline int runGenerator(const char* name, void (*generate)(int argc, char** argv), int argc, char** argv) {
  try {
    generate(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace boxcar::codegen
