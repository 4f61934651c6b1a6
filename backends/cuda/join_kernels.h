#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Joining tensors, which nvcc compiles.

namespace boxcar::cuda {

// Writes to each of [rows] rows of [out], from byte [begin] on, one row of each part in turn.
struct JoinLaunch {
  static constexpr size_t kMostParts = 32;  // longer lists take several launches

  struct Part {
    const char* data;  // contiguous rows
    int64_t bytes;     // of a row
  };

  char* out;
  int64_t rows;
  int64_t row_bytes;  // from one row of [out] to the next
  int64_t begin;
  std::array<Part, kMostParts> parts;
  size_t count;
};

void launchJoin(const JoinLaunch& launch);

}  // namespace boxcar::cuda
