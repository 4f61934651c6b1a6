#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

namespace boxcar::cuda {

// A matrix, or a batch of matrices, in device memory. Steps are in elements.
struct MatrixOperand {
  void* data;
  int64_t row_step;
  int64_t column_step;
  int64_t batch_step;
};

// c = beta * c + alpha * a @ b, where a is [m] by [k] and b is [k] by [n], for [batch] matrices. In a and b, either
// rows or columns are contiguous; in c, rows are.
struct GemmCall {
  ScalarType type;
  int64_t batch;
  int64_t m;
  int64_t n;
  int64_t k;
  MatrixOperand a;
  MatrixOperand b;
  MatrixOperand c;
  Scalar alpha;
  Scalar beta;
  // A row of n elements that is added to each row of c before rounding; only with a batch of 1 and real elements.
  const void* bias = nullptr;
};

// Whether float32 products may use TensorFloat-32, which has 10 fraction bits and is many times faster. Off unless the
// environment variable BOXCAR_CUDA_TF32 is 1, as in PyTorch.
BOXCAR_API bool allowsTf32();
BOXCAR_API void setAllowTf32(bool allow);

}  // namespace boxcar::cuda
