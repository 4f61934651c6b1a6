#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

namespace boxcar::cuda {

// A matrix in a device's memory, or a batch of them: steps in elements.
struct MatrixOperand {
  void* data;
  int64_t row_step;
  int64_t column_step;
  int64_t batch_step;
};

// c = beta * c + alpha * a @ b, with a of [m] by [k] and b of [k] by [n] elements, [batch] times. In a and b rows or
// columns lie side by side, in c rows do.
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
  // A row of n elements that is added to each row of c, before it is rounded; with a batch of one and real elements.
  const void* bias = nullptr;
};

// Whether products of float32 may be made of TensorFloat-32, with 10 bits of fraction and many times the speed. Off
// unless the environment variable BOXCAR_CUDA_TF32 is 1, as in PyTorch.
BOXCAR_API bool allowsTf32();
BOXCAR_API void setAllowTf32(bool allow);

}  // namespace boxcar::cuda
