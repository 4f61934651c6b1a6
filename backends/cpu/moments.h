#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/vector_moments.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/functors/moments.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace boxcar::cpu {

// Within these limits, squares of floats keep full precision. A sum of 0 may be the result of underflow.
inline constexpr float kLeastSquares = std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon();
inline constexpr float kMostSquares = std::numeric_limits<float>::max();

// Rows outside the range of floats are computed again in doubles, whose range is large enough.
[[gnu::noinline, gnu::cold]] inline Moments<double> wideRowMoments(const float* x, int64_t n) {
  const auto count = static_cast<double>(n);
  // Rows of one repeated number, such as padding, have no deviations and are common.
  if (n > 0 && std::isfinite(*x) && std::memcmp(x, x + 1, static_cast<size_t>(n - 1) * sizeof *x) == 0) {
    return {count, static_cast<double>(*x), 0};
  }
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
  const double mean = sum / count;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  return {count, mean, squares};
}

// Returns the moments of a row of floats or doubles. Uses deviations from an approximate mean, so that few digits are
// lost.
template <class T>
Moments<double> rowMoments(const T* x, int64_t n) {
  const auto size = static_cast<size_t>(n);
  const auto count = static_cast<double>(n);
  const T shift = vectorReduceRows<T>(VectorReduction::kSum).row(x, size) / static_cast<T>(n);
  const Deviations<T> rest = sumDeviations<T>(x, size, shift);
  if constexpr (std::is_same_v<T, float>) {
    if (!(rest.squares >= kLeastSquares && rest.squares <= kMostSquares)) [[unlikely]]
      return wideRowMoments(x, n);
  }
  const double offset = static_cast<double>(rest.sum) / count;
  const double squares = static_cast<double>(rest.squares) - static_cast<double>(rest.sum) * offset;
  // Rounding must not make it negative; NaN stays.
  return {count, static_cast<double>(shift) + offset, squares < 0 ? 0 : squares};
}

}  // namespace boxcar::cpu
