#pragma once

#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::cpu {

// Returns a loop with one input that converts elements of [from] to elements of [to] (functors/element.h defines how).
Loop conversionLoop(ScalarType to, ScalarType from);

// Runs [loop], which has one input, for [n] elements.
inline void convertRow(Loop loop, void* out, int64_t out_step, const void* in, int64_t in_step, int64_t n) {
  char* const data[kMaxOperands] = {static_cast<char*>(out), static_cast<char*>(const_cast<void*>(in))};
  const int64_t steps[2 * kMaxOperands] = {out_step, in_step};
  loop(data, steps, n, 1, nullptr);
}

// Writes the element at [from] to [n] consecutive places.
void repeatElement(void* to, const void* from, size_t itemsize, int64_t n);

}  // namespace boxcar::cpu
