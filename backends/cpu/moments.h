#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/vector_moments.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/elements/moments.h>

#include <cstdint>

namespace boxcar::cpu {

// The moments of a row of floats or doubles: deviations from about the mean, so that few digits are lost.
template <class T>
Moments<double> rowMoments(const T* x, int64_t n) {
  const auto size = static_cast<size_t>(n);
  const auto count = static_cast<double>(n);
  const T shift = vectorReduceRows<T>(VectorReduction::kSum).row(x, size) / static_cast<T>(n);
  const Deviations<T> rest = sumDeviations<T>(x, size, shift);
  const double offset = static_cast<double>(rest.sum) / count;
  const double squares = static_cast<double>(rest.squares) - static_cast<double>(rest.sum) * offset;
  // Rounding must not make it negative; NaN stays.
  return {count, static_cast<double>(shift) + offset, squares < 0 ? 0 : squares};
}

}  // namespace boxcar::cpu
