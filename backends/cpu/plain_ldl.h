#pragma once

#include <boxcar/backends/cpu/plain_solvers.h>
#include <boxcar/backends/cpu/plain_wide.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

// L D L^T and L D L^H with the pivots of Bunch and Kaufman, in the lower triangle.

namespace boxcar::cpu::plain {

// The elements of a symmetric or Hermitian matrix.
struct LdlMatrix {
  using T = Wide;
  bool hermitian;
  int64_t n;
  T* a;

  T& operator()(int64_t i, int64_t j) const { return a[i + j * n]; }
  T other(T value) const { return hermitian ? conjugate(value) : value; }
  double diagonal(int64_t i) const { return hermitian ? std::abs(std::real(a[i + i * n])) : magnitude(a[i + i * n]); }
  void clean(int64_t i) const {
    if (hermitian) a[i + i * n] = std::real(a[i + i * n]);
  }

  // Swaps rows and columns [i] < [j] of what is not factored yet, from column i on.
  void swap(int64_t i, int64_t j) const {
    for (int64_t row = j + 1; row < n; ++row) std::swap((*this)(row, i), (*this)(row, j));
    for (int64_t k = i + 1; k < j; ++k) {
      const T moved = other((*this)(k, i));
      (*this)(k, i) = other((*this)(j, k));
      (*this)(j, k) = moved;
    }
    (*this)(j, i) = other((*this)(j, i));
    std::swap((*this)(i, i), (*this)(j, j));
  }
};

// The pivot of a step, and how many rows its block has.
struct LdlPivot {
  int64_t row;
  int64_t rows;
};

// Returns the pivot for column k; its row is -1 if the column is zero or not a number.
[[gnu::cold]] inline LdlPivot choosePivot(const LdlMatrix& a, int64_t k) {
  using Real = double;
  const Real kAlpha = (1 + std::sqrt(17.)) / 8;
  const Real own = a.diagonal(k);
  Real column_max = 0;
  int64_t most = k;
  for (int64_t i = k + 1; i < a.n; ++i) {
    if (magnitude(a(i, k)) > column_max) column_max = magnitude(a(most = i, k));
  }
  if (std::max(own, column_max) == 0 || std::isnan(own)) return {-1, 1};
  if (own >= kAlpha * column_max) return {k, 1};
  Real row_max = 0;
  for (int64_t j = k; j < most; ++j) row_max = std::max(row_max, magnitude(a(most, j)));
  for (int64_t i = most + 1; i < a.n; ++i) row_max = std::max(row_max, magnitude(a(i, most)));
  if (own >= kAlpha * column_max * (column_max / row_max)) return {k, 1};
  if (a.diagonal(most) >= kAlpha * row_max) return {most, 1};
  return {most, 2};
}

[[gnu::cold]] inline int factorWideLdl(bool hermitian, int64_t n, Wide* elements, int32_t* pivots) {
  using T = Wide;
  const LdlMatrix a{hermitian, n, elements};
  int info = 0;
  for (int64_t k = 0; k < n;) {
    a.clean(k);
    const LdlPivot pivot = choosePivot(a, k);
    if (pivot.row < 0) {
      if (info == 0) info = static_cast<int>(k + 1);
      pivots[k] = static_cast<int32_t>(k + 1);
      ++k;
      continue;
    }
    const int64_t last = k + pivot.rows - 1;
    if (pivot.row != last) {
      a.swap(last, pivot.row);
      if (pivot.rows == 2) std::swap(a(k + 1, k), a(pivot.row, k));
    }
    a.clean(k);
    a.clean(last);
    T* const x = &a(0, k);
    if (pivot.rows == 1) {
      for (int64_t j = k + 1; j < n; ++j) {
        const T factor = a.other(x[j]) / a(k, k);
        subtractScaled(n - j, factor, x + j, &a(j, j));
        a.clean(j);
      }
      for (int64_t i = k + 1; i < n; ++i) x[i] /= a(k, k);
      pivots[k] = static_cast<int32_t>(pivot.row + 1);
    } else {
      T* const y = &a(0, k + 1);
      // (x y) D^-1 row by row, with D = (p, conj(q); q, r) divided by q.
      const T q = x[k + 1], q_other = a.other(q);
      const T p = x[k] / q_other, r = y[k + 1] / q;
      const T scale = T(1) / (p * r - T(1));
      for (int64_t j = k + 2; j < n; ++j) {
        const T first = scale * (r * x[j] - y[j]) / q_other;
        const T second = scale * (p * y[j] - x[j]) / q;
        subtractScaled(n - j, a.other(first), x + j, &a(j, j));
        subtractScaled(n - j, a.other(second), y + j, &a(j, j));
        a.clean(j);
        x[j] = first;
        y[j] = second;
      }
      pivots[k] = pivots[k + 1] = static_cast<int32_t>(-pivot.row - 1);
    }
    k += pivot.rows;
  }
  return info;
}

[[gnu::cold]] inline void solveWideLdl(bool hermitian, int64_t n, int64_t columns, Wide* elements,
                                       const int32_t* pivots, Wide* b) {
  using T = Wide;
  const LdlMatrix a{hermitian, n, elements};
  for (int64_t column = 0; column < columns; ++column, b += n) {
    for (int64_t k = 0; k < n;) {
      const int64_t rows = pivots[k] > 0 ? 1 : 2;
      const int64_t last = k + rows - 1;
      std::swap(b[last], b[std::abs(pivots[last]) - 1]);
      for (int64_t j = k; j <= last; ++j) subtractScaled(n - last - 1, b[j], &a(0, j) + last + 1, b + last + 1);
      if (rows == 1) {
        b[k] /= a(k, k);
      } else {
        const T q = a(k + 1, k), q_other = a.other(q);
        const T p = a(k, k) / q_other, r = a(k + 1, k + 1) / q;
        const T scale = T(1) / (p * r - T(1));
        const T x = b[k] / q_other, y = b[k + 1] / q;
        b[k] = scale * (r * x - y);
        b[k + 1] = scale * (p * y - x);
      }
      k += rows;
    }
    for (int64_t k = n - 1; k >= 0;) {
      const int64_t rows = pivots[k] > 0 ? 1 : 2;
      for (int64_t j = k; j > k - rows; --j) {
        const T* factors = &a(0, j) + k + 1;
        b[j] -= hermitian ? dotProduct<true>(n - k - 1, factors, b + k + 1)
                          : dotProduct<false>(n - k - 1, factors, b + k + 1);
      }
      std::swap(b[k], b[std::abs(pivots[k]) - 1]);
      k -= rows;
    }
  }
}

template <class T>
int factorLdl(bool hermitian, int64_t n, T* a, int32_t* pivots) {
  std::vector<Wide> wide = widened(a, n * n);
  const int info = factorWideLdl(hermitian, n, wide.data(), pivots);
  narrowTo(a, wide);
  return info;
}

template <class T>
void solveLdl(bool hermitian, int64_t n, int64_t columns, T* a, const int32_t* pivots, T* b) {
  std::vector<Wide> wide_a = widened(a, n * n), wide_b = widened(b, n * columns);
  solveWideLdl(hermitian, n, columns, wide_a.data(), pivots, wide_b.data());
  narrowTo(b, wide_b);
}

}  // namespace boxcar::cpu::plain
