#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/element.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>

// Linear solvers without a library; see Lapack for what the functions do. Loops run down columns, whose elements are
// adjacent in memory.

namespace boxcar::cpu::plain {

template <class T>
T conjugate(T value) {
  if constexpr (kIsComplex<T>) {
    return std::conj(value);
  } else {
    return value;
  }
}

// Returns the measure by which pivots are compared.
template <class T>
RealOf<T> magnitude(T value) {
  if constexpr (kIsComplex<T>) {
    return std::abs(value.real()) + std::abs(value.imag());
  } else {
    return std::abs(value);
  }
}

// y -= factor * x
template <class T>
void subtractScaled(int64_t n, T factor, const T* x, T* y) {
  for (int64_t i = 0; i < n; ++i) y[i] -= factor * x[i];
}

// Returns the sum of conj(x[i]) * y[i], or of x[i] * y[i].
template <bool conjugates, class T>
T dotProduct(int64_t n, const T* x, const T* y) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += (conjugates ? conjugate(x[i]) : x[i]) * y[i];
  return sum;
}

template <class T>
int factorLu(int64_t m, int64_t n, T* a, int32_t* pivots) {
  int info = 0;
  for (int64_t j = 0; j < std::min(m, n); ++j) {
    T* column = a + j * m;
    int64_t pivot = j;
    for (int64_t i = j + 1; i < m; ++i) {
      if (magnitude(column[i]) > magnitude(column[pivot])) pivot = i;
    }
    pivots[j] = static_cast<int32_t>(pivot + 1);
    if (column[pivot] == T(0)) {
      if (info == 0) info = static_cast<int>(j + 1);
      continue;
    }
    if (pivot != j) {
      for (int64_t k = 0; k < n; ++k) std::swap(a[j + k * m], a[pivot + k * m]);
    }
    for (int64_t i = j + 1; i < m; ++i) column[i] /= column[j];
    for (int64_t k = j + 1; k < n; ++k) subtractScaled(m - j - 1, a[j + k * m], column + j + 1, a + j + 1 + k * m);
  }
  return info;
}

// x = a^-1 x with a triangle of a, n by n: forward for the lower triangle, backward for the upper one.
template <class T>
void solveColumn(bool upper, bool unit, int64_t n, const T* a, T* x) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t j = upper ? n - 1 - step : step;
    if (!unit) x[j] /= a[j + j * n];
    const int64_t first = upper ? 0 : j + 1;
    subtractScaled(upper ? j : n - j - 1, x[j], a + first + j * n, x + first);
  }
}

// x = a^-T x, or a^-H x.
template <bool conjugates, class T>
void solveTransposedColumn(bool upper, bool unit, int64_t n, const T* a, T* x) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t j = upper ? step : n - 1 - step;
    const int64_t first = upper ? 0 : j + 1;
    x[j] -= dotProduct<conjugates>(upper ? j : n - j - 1, a + first + j * n, x + first);
    if (!unit) x[j] /= conjugates ? conjugate(a[j + j * n]) : a[j + j * n];
  }
}

template <class T>
void solveLu(bool transposed, int64_t n, int64_t columns, const T* a, const int32_t* pivots, T* b) {
  for (int64_t k = 0; k < columns; ++k, b += n) {
    if (!transposed) {
      for (int64_t i = 0; i < n; ++i) std::swap(b[i], b[pivots[i] - 1]);
      solveColumn(/*upper=*/false, /*unit=*/true, n, a, b);
      solveColumn(/*upper=*/true, /*unit=*/false, n, a, b);
    } else {
      solveTransposedColumn<false>(/*upper=*/true, /*unit=*/false, n, a, b);
      solveTransposedColumn<false>(/*upper=*/false, /*unit=*/true, n, a, b);
      for (int64_t i = n - 1; i >= 0; --i) std::swap(b[i], b[pivots[i] - 1]);
    }
  }
}

template <class T>
int factorCholesky(bool upper, int64_t n, T* a) {
  // The element (i, j) of the lower factor; the upper factor has its conjugate at (j, i).
  const auto at = [&](int64_t i, int64_t j) -> T& { return upper ? a[j + i * n] : a[i + j * n]; };
  const auto side = [&](T value) { return upper ? conjugate(value) : value; };
  for (int64_t j = 0; j < n; ++j) {
    RealOf<T> diagonal = std::real(at(j, j));
    for (int64_t k = 0; k < j; ++k) diagonal -= std::norm(at(j, k));
    if (!(diagonal > 0)) {
      at(j, j) = diagonal;
      return static_cast<int>(j + 1);
    }
    const RealOf<T> root = std::sqrt(diagonal);
    at(j, j) = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = side(at(i, j));
      for (int64_t k = 0; k < j; ++k) sum -= side(at(i, k)) * conjugate(side(at(j, k)));
      at(i, j) = side(sum / root);
    }
  }
  return 0;
}

template <class T>
void solveCholesky(bool upper, int64_t n, int64_t columns, const T* a, T* b) {
  for (int64_t k = 0; k < columns; ++k, b += n) {
    if (upper) {
      solveTransposedColumn<true>(/*upper=*/true, /*unit=*/false, n, a, b);
      solveColumn(/*upper=*/true, /*unit=*/false, n, a, b);
    } else {
      solveColumn(/*upper=*/false, /*unit=*/false, n, a, b);
      solveTransposedColumn<true>(/*upper=*/false, /*unit=*/false, n, a, b);
    }
  }
}

template <class T>
void solveTriangular(bool left, bool upper, bool unit, int64_t m, int64_t n, const T* a, T* b) {
  if (left) {
    for (int64_t k = 0; k < n; ++k) solveColumn(upper, unit, m, a, b + k * m);
    return;
  }
  // b a^-1: each result column follows from the ones before it, or from the ones after it for the lower triangle.
  for (int64_t step = 0; step < n; ++step) {
    const int64_t j = upper ? step : n - 1 - step;
    T* column = b + j * m;
    for (int64_t k = upper ? 0 : j + 1; k < (upper ? j : n); ++k) subtractScaled(m, a[k + j * n], b + k * m, column);
    if (unit) continue;
    for (int64_t i = 0; i < m; ++i) column[i] /= a[j + j * n];
  }
}

}  // namespace boxcar::cpu::plain
