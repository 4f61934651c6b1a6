#pragma once

#include <cstdio>
#include <exception>

namespace boxcar::codegen {

// What a generator's main does: [generate], whose errors go to stderr after its [name]. The exit status.
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
