#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Counting numbers (bincount). nvcc compiles the kernels.

namespace boxcar::cuda {

// The maximum number of bins that a block counts in shared memory.
inline constexpr int64_t kSharedBins = 8192;

// Counts how often each of [n] numbers occurs, into the [bins] int64 elements of [out], which must hold 0. If [weights]
// is not null, sums those instead, as elements of [type]. All numbers are below [bins].
struct CountLaunch {
  const int64_t* numbers;
  const void* weights;
  void* out;
  ScalarType type;
  int64_t bins;
  int64_t n;
  int64_t blocks;  // that share the numbers, if the bins are in shared memory
};
void launchCount(const CountLaunch& launch);

}  // namespace boxcar::cuda
