#pragma once

#include <boxcar/backends/cpu/vector_functions.h>

#include <cstddef>

// The rows that the files in this folder define, each for float and double.

namespace boxcar::cpu {

#define BOXCAR_DECLARE_ROW(Function)                                               \
  void run##Function(const float* in, float* out, size_t n, const Scalar* params); \
  void run##Function(const double* in, double* out, size_t n, const Scalar* params);
BOXCAR_VECTOR_UNARY_FUNCTIONS(BOXCAR_DECLARE_ROW)
#undef BOXCAR_DECLARE_ROW

#define BOXCAR_DECLARE_BINARY_ROW(Function)                                                                   \
  void run##Function(const float* a, size_t a_moves, const float* b, size_t b_moves, float* out, size_t n,    \
                     const Scalar* params);                                                                   \
  void run##Function(const double* a, size_t a_moves, const double* b, size_t b_moves, double* out, size_t n, \
                     const Scalar* params);
BOXCAR_VECTOR_BINARY_FUNCTIONS(BOXCAR_DECLARE_BINARY_ROW)
#undef BOXCAR_DECLARE_BINARY_ROW

}  // namespace boxcar::cpu
