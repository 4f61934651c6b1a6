#pragma once

// What the fuzz targets share. Each defines LLVMFuzzerTestOneInput, which libFuzzer calls, or replay.cpp.

#include <boxcar/interpreter/limits.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <cstdint>

namespace boxcar::fuzz {

inline constexpr RunLimits kLimits = {.max_instructions = 20'000, .max_depth = 200};

// Runs [body] as a program of strangers is run: no file can be touched, and nothing is printed. Errors are what it may
// end with; anything else is a finding.
template <class Body>
void runHarmlessly(Body body) {
  static const FileAccess nowhere = FileAccess::sandboxed("/proc/self/fdinfo");
  const FileAccessGuard guard(nowhere);
  try {
    body();
  } catch (const Error&) {
  }
}

}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
