#pragma once

// What the fuzz targets share. Each defines LLVMFuzzerTestOneInput, which libFuzzer calls, or replay.cpp.

#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace boxcar::fuzz {

inline constexpr RunLimits kLimits = {.max_instructions = 20'000, .max_depth = 200};

// What must hold: where it does not, that is a finding.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Runs [body], which may end with an Error, unless that tells of a fault in boxcar. Whether it ended without.
template <class Body>
bool runToError(Body body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    require(!error.message().starts_with("internal assertion failed"), error.message());
    return false;
  }
}

// The same, as a program of strangers is run: no file can be touched.
template <class Body>
void runHarmlessly(Body body) {
  static const FileAccess nowhere = FileAccess::sandboxed("/proc/self/fdinfo");
  const FileAccessGuard guard(nowhere);
  runToError(body);
}

// The input as text.
inline std::string_view textOf(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
