#pragma once

#include <cstddef>

namespace boxcar::cpu {

// Rows of T, which is Half or BFloat16, as cpu/vector_small_floats.h describes them, one element after another.
template <class T>
struct PlainSmallFloats {
  static void widen(const void* in, float* out, size_t n) {
    const T* const from = static_cast<const T*>(in);
    for (size_t i = 0; i < n; ++i) out[i] = float(from[i]);
  }
  static void narrow(const float* in, void* out, size_t n) {
    T* const to = static_cast<T*>(out);
    for (size_t i = 0; i < n; ++i) to[i] = T(in[i]);
  }
  static void round(float* row, size_t n) {
    for (size_t i = 0; i < n; ++i) row[i] = float(T(row[i]));
  }
};

}  // namespace boxcar::cpu
