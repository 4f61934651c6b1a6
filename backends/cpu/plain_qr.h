#pragma once

#include <boxcar/backends/cpu/plain_solvers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

// QR factors by Householder reflections I - tau v v^H, with v[0] = 1, as LAPACK stores them.

namespace boxcar::cpu::plain {

// c -= factor * v (v^H c) for each of [columns] columns of c, which are m elements apart; v has n elements, the first
// of which is taken as 1.
template <class T>
void reflect(int64_t n, int64_t columns, T factor, const T* v, T* c, int64_t m) {
  for (int64_t k = 0; k < columns; ++k, c += m) {
    const T projection = factor * (c[0] + dotProduct<true>(n - 1, v + 1, c + 1));
    c[0] -= projection;
    subtractScaled(n - 1, projection, v + 1, c + 1);
  }
}

template <class T>
int factorQr(int64_t m, int64_t n, T* a, T* tau) {
  using Real = RealOf<T>;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    T* column = a + j + j * m;
    const int64_t length = m - j;
    // Scaled so that squares neither overflow nor underflow.
    Real greatest = 0;
    for (int64_t i = 1; i < length; ++i) greatest = std::max(greatest, magnitude(column[i]));
    const T first = column[0];
    if (greatest == 0 && std::imag(first) == 0) {
      tau[j] = 0;
      continue;
    }
    greatest = std::max(greatest, magnitude(first));
    Real squares = 0;
    for (int64_t i = 0; i < length; ++i) squares += std::norm(column[i] / greatest);
    const Real norm = greatest * std::sqrt(squares);
    const Real result = std::real(first) > 0 ? -norm : norm;
    tau[j] = (result - first) / result;
    for (int64_t i = 1; i < length; ++i) column[i] /= first - result;
    column[0] = result;
    reflect(length, n - j - 1, conjugate(tau[j]), column, column + m, m);
  }
  return 0;
}

template <class T>
int formQ(int64_t m, int64_t n, int64_t k, T* a, const T* tau) {
  // Columns without a reflection are columns of the identity.
  for (int64_t j = k; j < n; ++j) {
    std::fill_n(a + j * m, m, T(0));
    a[j + j * m] = 1;
  }
  for (int64_t j = k - 1; j >= 0; --j) {
    T* column = a + j + j * m;
    reflect(m - j, n - j - 1, tau[j], column, column + m, m);
    for (int64_t i = 1; i < m - j; ++i) column[i] *= -tau[j];
    column[0] = T(1) - tau[j];
    std::fill_n(a + j * m, j, T(0));
  }
  return 0;
}

// Applies a reflection from the right: c -= factor * (c v) v^H, where c has m rows and n columns.
template <class T>
void reflectRows(int64_t m, int64_t n, T factor, const T* v, T* c) {
  const auto at = [&](int64_t j) { return j == 0 ? T(1) : v[j]; };
  for (int64_t i = 0; i < m; ++i) {
    T projection = 0;
    for (int64_t j = 0; j < n; ++j) projection += c[i + j * m] * at(j);
    projection *= factor;
    for (int64_t j = 0; j < n; ++j) c[i + j * m] -= projection * conjugate(at(j));
  }
}

template <class T>
int applyQ(bool left, bool adjoint, int64_t m, int64_t n, int64_t k, T* a, const T* tau, T* c) {
  const int64_t order = left ? m : n;
  for (int64_t step = 0; step < k; ++step) {
    const int64_t j = left == adjoint ? step : k - 1 - step;
    const T factor = adjoint ? conjugate(tau[j]) : tau[j];
    const T* v = a + j + j * order;
    left ? reflect(m - j, n, factor, v, c + j, m) : reflectRows(m, n - j, factor, v, c + j * m);
  }
  return 0;
}

}  // namespace boxcar::cpu::plain
