#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/native/sequences.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Kernels that depend on an element's position in its tensor. nvcc compiles them.

namespace boxcar::cuda {

// Writes [count] elements of a sequence.
void launchSequence(void* out, ScalarType type, int64_t count, const native::Sequence& sequence);

// [batch] matrices of [rows] by [columns]. [batches] holds the leading dimensions, with steps in bytes for both
// operands.
struct TriangleLaunch {
  char* out;
  const char* in;
  size_t itemsize;
  const StridedLayout* batches;
  int64_t rows;
  int64_t columns;
  int64_t steps[2][2];  // of out and in: from row to row, from column to column; in bytes
  int64_t diagonal;
  bool lower;
};
void launchTriangle(const TriangleLaunch& launch);

}  // namespace boxcar::cuda
