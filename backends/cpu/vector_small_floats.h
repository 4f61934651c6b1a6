#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>

// Rows of float16 or bfloat16 as floats, vectorised for the CPU that the program runs on. The results are those of the
// conversions of Half and BFloat16.

namespace boxcar::cpu {

struct SmallFloatRows {
  void (*widen)(const void* in, float* out, size_t n);
  void (*narrow)(const float* in, void* out, size_t n);
  // Replaces each float with the nearest element, as a float.
  void (*round)(float* row, size_t n);
};

// Returns the functions for [type], Half or BFloat16.
const SmallFloatRows& smallFloatRows(ScalarType type);

}  // namespace boxcar::cpu
