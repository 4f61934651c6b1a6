#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

namespace boxcar::functors {

// Writes the cross product of the three elements at [a] and at [b] to [out]; steps are in bytes. [out] may be [a] or
// [b].
template <class T>
BOXCAR_HOST_DEVICE void crossProduct(char* out, int64_t out_step, const char* a, int64_t a_step, const char* b,
                                     int64_t b_step) {
  using C = Compute<T>;
  const auto read = [](const char* start, int64_t step, int64_t i) {
    return static_cast<C>(*reinterpret_cast<const T*>(start + i * step));
  };
  C results[3];
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t j = (i + 1) % 3;
    const int64_t k = (i + 2) % 3;
    results[i] = subtractElements(multiplyElements(read(a, a_step, j), read(b, b_step, k)),
                                  multiplyElements(read(a, a_step, k), read(b, b_step, j)));
  }
  for (int64_t i = 0; i < 3; ++i) *reinterpret_cast<T*>(out + i * out_step) = static_cast<T>(results[i]);
}

}  // namespace boxcar::functors
