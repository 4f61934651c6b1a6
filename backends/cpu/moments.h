#pragma once

#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/cpu/vector_moments.h>
#include <boxcar/backends/cpu/vector_reductions.h>

#include <complex>
#include <cstdint>

namespace boxcar::cpu {

// How many elements there are, their mean, and the sum of the squares of their distances from it, in float64.
template <class Mean>
struct Moments {
  double count;
  Mean mean;
  double squares;

  static Moments merge(const Moments& a, const Moments& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const double count = a.count + b.count;
    const Mean delta = b.mean - a.mean;
    return {count, a.mean + delta * (b.count / count),
            a.squares + b.squares + squareOf(delta) * a.count * (b.count / count)};
  }
  static double squareOf(double x) { return x * x; }
  static double squareOf(std::complex<double> x) { return std::norm(x); }
};

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

// The variances over some dimensions, divided by the count less the parameter, and as second result the means.
const Reduction& varianceReduction();

}  // namespace boxcar::cpu
