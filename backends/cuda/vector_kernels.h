#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Products and distances of vectors, which nvcc compiles.

namespace boxcar::cuda {

// Lines of three elements, of any strides: [lines] has the sizes of the others, and a line's first element in the
// result and in both inputs.
struct CrossLaunch {
  char* data[3];
  int64_t steps[3];  // from an element of a line to the next, in bytes
  ScalarType type;
  const StridedLayout* lines;
};
void launchCross(const CrossLaunch& launch);

// The p-norms of the differences of rows, of [m] of x and [n] of y, [batch] times; contiguous, of float32 or float64.
struct DistancesLaunch {
  const void* x;
  const void* y;
  void* out;
  ScalarType type;
  int64_t batch;
  int64_t m;
  int64_t n;
  int64_t depth;
  double p;
};
void launchDistances(const DistancesLaunch& launch);

}  // namespace boxcar::cuda
