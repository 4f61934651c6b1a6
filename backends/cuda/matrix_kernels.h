#pragma once

#include <boxcar/backends/cuda/strided_layout.h>
#include <boxcar/backends/dense/sequences.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Kernels that know an element's place in its tensor, which nvcc compiles.

namespace boxcar::cuda {

// Writes [count] elements of a sequence.
void launchSequence(void* out, ScalarType type, int64_t count, const dense::Sequence& sequence);

// Matrices of [rows] by [columns], [batch] times. [batches] has the dimensions before, steps in bytes of both operands.
struct TriangleLaunch {
  char* out;
  const char* in;
  size_t itemsize;
  const StridedLayout* batches;
  int64_t rows;
  int64_t columns;
  int64_t steps[2][2];  // of out and in: from row to row, from column to column; bytes
  int64_t diagonal;
  bool lower;
};
void launchTriangle(const TriangleLaunch& launch);

}  // namespace boxcar::cuda
