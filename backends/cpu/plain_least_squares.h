#pragma once

#include <boxcar/backends/cpu/lapack.h>
#include <boxcar/backends/cpu/plain_eigen.h>
#include <boxcar/backends/cpu/plain_wide.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace boxcar::cpu::plain {

// Least squares by singular values, whatever the method: x = V diag(1 / s) U^H b. [epsilon] is that of the elements'
// type.
[[gnu::cold]] inline int solveWideLeastSquares(LeastSquares method, int64_t m, int64_t n, int64_t columns, double rcond,
                                               double epsilon, Wide* a, Wide* b, double* s, int64_t* rank) {
  const int64_t k = std::min(m, n);
  std::vector<Wide> u(static_cast<size_t>(m * k)), vh(static_cast<size_t>(k * n)), part(static_cast<size_t>(k));
  const int info = findSvd('S', m, n, a, s, u.data(), vh.data());
  if (info != 0) return info;
  const double limit = method == LeastSquares::kGels || !(rcond >= 0) || rcond >= 1 ? epsilon * s[0] : rcond * s[0];
  int64_t found = 0;
  while (found < k && s[found] > limit) ++found;
  if (method == LeastSquares::kGels && found < k && s[0] > 0) return static_cast<int>(found + 1);
  if (method != LeastSquares::kGels) *rank = found;

  const int64_t rows = std::max(m, n);
  for (int64_t j = 0; j < columns; ++j, b += rows) {
    for (int64_t i = 0; i < k; ++i) part[static_cast<size_t>(i)] = dotProduct<true>(m, u.data() + i * m, b);
    double rest = 0;
    if (m > n) {
      for (int64_t i = 0; i < k; ++i) subtractScaled(m, part[static_cast<size_t>(i)], u.data() + i * m, b);
      rest = std::sqrt(std::real(dotProduct<true>(m, b, b)));
    }
    std::fill_n(b, rows, Wide(0));
    for (int64_t i = 0; i < found; ++i) {
      const Wide factor = part[static_cast<size_t>(i)] / s[i];
      for (int64_t row = 0; row < n; ++row) b[row] += conjugate(vh[static_cast<size_t>(i + row * k)]) * factor;
    }
    if (m > n) b[n] = rest;
  }
  return 0;
}

template <class T>
int solveLeastSquares(LeastSquares method, int64_t m, int64_t n, int64_t columns, RealOf<T> rcond, T* a, T* b,
                      RealOf<T>* s, int64_t* rank) {
  std::vector<Wide> wide_a = widened(a, m * n), wide_b = widened(b, std::max(m, n) * columns);
  std::vector<double> values(static_cast<size_t>(std::min(m, n)));
  const int info = solveWideLeastSquares(method, m, n, columns, rcond, std::numeric_limits<RealOf<T>>::epsilon(),
                                         wide_a.data(), wide_b.data(), values.data(), rank);
  std::ranges::transform(values, s, [](double value) { return static_cast<RealOf<T>>(value); });
  narrowTo(b, wide_b);
  return info;
}

}  // namespace boxcar::cpu::plain
