#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Cross products and distances of vectors, which nvcc compiles.

namespace boxcar::cuda {

// Lines of three elements with any strides. [lines] has the sizes of the other dimensions, and the strides between the
// first elements of lines in the result and both inputs.
struct CrossLaunch {
  char* data[3];
  int64_t steps[3];  // between the elements of a line, in bytes
  ScalarType type;
  const StridedLayout* lines;
};
void launchCross(const CrossLaunch& launch);

// The p-norms of the differences between [m] rows of x and [n] rows of y, for [batch] pairs of matrices; contiguous,
// float32 or float64.
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
