#pragma once

// Shared by the fuzz targets. Each defines LLVMFuzzerTestOneInput, which libFuzzer or replay.cpp calls.

#include <boxcar/interpreter/runtime/limits.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/file_access.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace boxcar::fuzz {

inline constexpr RunLimits kLimits = {.max_instructions = 20'000, .max_depth = 200};

// Aborts with [what] if [holds] is false; libFuzzer reports that as a finding.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Runs [body]. It may throw an Error, but not an internal one. Returns whether it ended without an Error.
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

// Runs [body] like an untrusted program: it cannot access any file.
template <class Body>
void runHarmlessly(Body body) {
  static const FileAccess nowhere = FileAccess::sandboxed("/proc/self/fdinfo");
  const FileAccessGuard guard(nowhere);
  runToError(body);
}

// Returns the input as text.
inline std::string_view textOf(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace boxcar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
