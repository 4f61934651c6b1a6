#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Counting numbers, which nvcc compiles.

namespace boxcar::cuda {

// The most bins that a block counts in shared memory.
inline constexpr int64_t kSharedBins = 8192;

// Adds to [bins] of [out], which hold 0, how often each of [n] numbers occurs, int64, or its weights, elements of
// [type], where those are not null. The numbers are below [bins].
struct CountLaunch {
  const int64_t* numbers;
  const void* weights;
  void* out;
  ScalarType type;
  int64_t bins;
  int64_t n;
  int64_t blocks;  // that share the numbers, where bins are in shared memory
};
void launchCount(const CountLaunch& launch);

}  // namespace boxcar::cuda
