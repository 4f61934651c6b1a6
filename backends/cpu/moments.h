#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/vector_moments.h>
#include <boxcar/backends/cpu/vector_reductions.h>
#include <boxcar/backends/elements/moments.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace boxcar::cpu {

// Between these, squares of floats have all their digits. One of 0 may have been less than there is.
inline constexpr float kLeastSquares = std::numeric_limits<float>::min() / std::numeric_limits<float>::epsilon();
inline constexpr float kMostSquares = std::numeric_limits<float>::max();

// What leaves the range of floats is computed again in doubles, which have room for it.
[[gnu::noinline, gnu::cold]] inline Moments<double> wideRowMoments(const float* x, int64_t n) {
  const auto count = static_cast<double>(n);
  // Rows of one number, as padding is, have no deviations and come often.
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

// The moments of a row of floats or doubles: deviations from about the mean, so that few digits are lost.
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
