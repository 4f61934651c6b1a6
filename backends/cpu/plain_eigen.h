#pragma once

#include <boxcar/backends/cpu/plain_solvers.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

// Eigenvectors and singular values by Jacobi rotations, which are simple and accurate, but slow for large matrices.

namespace boxcar::cpu::plain {

inline constexpr int kMostSweeps = 60;

// The column rotation x, y -> c x - s conj(p) y, s p x + c y that makes two vectors orthogonal whose squared norms are
// [xx] and [yy] and whose product is <x, y> = p * |<x, y>|.
template <class T>
struct Rotation {
  RealOf<T> c;
  RealOf<T> s;
  T phase;

  Rotation(RealOf<T> xx, RealOf<T> yy, T product) {
    using Real = RealOf<T>;
    const Real size = std::abs(product);
    phase = product / size;
    const Real ratio = (yy - xx) / (2 * size);
    const Real tangent = (ratio >= 0 ? Real(1) : Real(-1)) / (std::abs(ratio) + std::hypot(Real(1), ratio));
    c = 1 / std::hypot(Real(1), tangent);
    s = c * tangent;
  }

  void apply(int64_t n, T* x, T* y, int64_t step) const {
    const T back = s * conjugate(phase);
    const T forth = s * phase;
    for (int64_t i = 0; i < n; ++i) {
      const T a = x[i * step];
      const T b = y[i * step];
      x[i * step] = c * a - back * b;
      y[i * step] = forth * a + c * b;
    }
  }
};

// Returns the indices 0 to n - 1, sorted by [values].
template <class Real, class Compare>
std::vector<int64_t> sortedOrder(const std::vector<Real>& values, Compare before) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t i, int64_t j) {
    return before(values[static_cast<size_t>(i)], values[static_cast<size_t>(j)]);
  });
  return order;
}

template <class T>
int findEigen(bool vectors, bool upper, int64_t n, T* a, RealOf<T>* values) {
  using Real = RealOf<T>;
  // Fills both triangles from the one that is read.
  Real greatest = 0;
  for (int64_t j = 0; j < n; ++j) {
    a[j + j * n] = std::real(a[j + j * n]);
    for (int64_t i = j + 1; i < n; ++i) {
      T& lower_one = a[i + j * n];
      T& upper_one = a[j + i * n];
      upper ? lower_one = conjugate(upper_one) : upper_one = conjugate(lower_one);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (!std::isfinite(std::abs(a[i + j * n]))) return 1;
      greatest = std::max(greatest, static_cast<Real>(std::abs(a[i + j * n])));
    }
  }
  // Scaled so that squares neither overflow nor underflow.
  const Real scale = greatest > 0 ? greatest : Real(1);
  Real squares = 0;
  for (int64_t i = 0; i < n * n; ++i) squares += std::norm(a[i] /= scale);
  std::vector<T> basis(static_cast<size_t>(n * n), T(0));
  for (int64_t j = 0; j < n; ++j) basis[static_cast<size_t>(j + j * n)] = 1;

  const Real small = std::numeric_limits<Real>::epsilon() * std::sqrt(squares) / static_cast<Real>(n);
  bool rotated = true;
  for (int sweep = 0; rotated; ++sweep) {
    if (sweep == kMostSweeps) return 1;
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const T off = a[p + q * n];
        if (std::abs(off) <= small) continue;
        rotated = true;
        const Rotation<T> rotation(std::real(a[p + p * n]), std::real(a[q + q * n]), off);
        rotation.apply(n, a + p * n, a + q * n, 1);
        // The same rotation from the left, with the conjugate phase.
        Rotation<T> adjoint = rotation;
        adjoint.phase = conjugate(rotation.phase);
        adjoint.apply(n, a + p, a + q, n);
        rotation.apply(n, basis.data() + p * n, basis.data() + q * n, 1);
        a[p + q * n] = a[q + p * n] = 0;
      }
    }
  }

  std::vector<Real> found(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) found[static_cast<size_t>(j)] = std::real(a[j + j * n]);
  const std::vector<int64_t> order = sortedOrder(found, std::less<>());
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    values[j] = scale * found[static_cast<size_t>(from)];
    if (vectors) std::copy_n(basis.data() + from * n, n, a + j * n);
  }
  return 0;
}

// Fills the columns from [have] to [want] of u, m by [want], so that they are orthonormal to each other and to the
// columns before them.
template <class T>
void completeBasis(int64_t m, int64_t have, int64_t want, T* u) {
  using Real = RealOf<T>;
  int64_t axis = 0;
  for (int64_t j = have; j < want; ++j) {
    T* column = u + j * m;
    Real norm = 0;
    // At least one axis keeps enough of its length.
    for (; norm * norm * static_cast<Real>(m) < Real(0.5); ++axis) {
      std::fill_n(column, m, T(0));
      column[axis % m] = 1;
      for (int repeat = 0; repeat < 2; ++repeat) {
        for (int64_t k = 0; k < j; ++k) subtractScaled(m, dotProduct<true>(m, u + k * m, column), u + k * m, column);
      }
      norm = std::sqrt(std::real(dotProduct<true>(m, column, column)));
      if (axis > 2 * m) break;
    }
    for (int64_t i = 0; i < m; ++i) column[i] /= norm;
  }
}

// Requires at least as many rows as columns. Rotates columns until they are orthogonal. Then a is U diag(s), and v, n
// by n, holds the rotations.
template <class T>
int rotateColumns(int64_t m, int64_t n, T* a, T* v) {
  using Real = RealOf<T>;
  const Real epsilon = std::numeric_limits<Real>::epsilon();
  std::fill_n(v, n * n, T(0));
  for (int64_t j = 0; j < n; ++j) v[j + j * n] = 1;
  bool rotated = true;
  for (int sweep = 0; rotated; ++sweep) {
    if (sweep == kMostSweeps) return 1;
    rotated = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const Real pp = std::real(dotProduct<true>(m, a + p * m, a + p * m));
        const Real qq = std::real(dotProduct<true>(m, a + q * m, a + q * m));
        const T pq = dotProduct<true>(m, a + p * m, a + q * m);
        if (!std::isfinite(pp) || !std::isfinite(qq)) return 1;
        if (std::abs(pq) <= epsilon * std::sqrt(pp) * std::sqrt(qq) ||
            std::abs(pq) < std::numeric_limits<Real>::min()) {
          continue;
        }
        rotated = true;
        const Rotation<T> rotation(pp, qq, pq);
        rotation.apply(m, a + p * m, a + q * m, 1);
        rotation.apply(n, v + p * n, v + q * n, 1);
      }
    }
  }
  return 0;
}

template <class T>
int findSvd(char what, int64_t m, int64_t n, T* a, RealOf<T>* s, T* u, T* vh) {
  using Real = RealOf<T>;
  // A wide matrix is decomposed through its adjoint: A^H = V diag(s) U^H.
  const bool wide = m < n;
  const int64_t rows = std::max(m, n);
  const int64_t columns = std::min(m, n);
  Real greatest = 0;
  std::vector<T> tall(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      const T element = wide ? conjugate(a[j + i * m]) : a[i + j * m];
      if (!(std::isfinite(std::real(element)) && std::isfinite(std::imag(element)))) return 1;
      greatest = std::max(greatest, static_cast<Real>(std::abs(element)));
      tall[static_cast<size_t>(i + j * rows)] = element;
    }
  }
  // Scaled so that squares neither overflow nor underflow.
  const Real scale = greatest > 0 ? greatest : Real(1);
  for (T& element : tall) element /= scale;
  std::vector<T> right(static_cast<size_t>(columns * columns));
  const int info = rotateColumns(rows, columns, tall.data(), right.data());
  if (info != 0) return info;

  std::vector<Real> norms(static_cast<size_t>(columns));
  for (int64_t j = 0; j < columns; ++j) {
    const T* column = tall.data() + j * rows;
    norms[static_cast<size_t>(j)] = std::sqrt(std::real(dotProduct<true>(rows, column, column)));
  }
  const std::vector<int64_t> order = sortedOrder(norms, std::greater<>());
  for (int64_t j = 0; j < columns; ++j) s[j] = scale * norms[static_cast<size_t>(order[static_cast<size_t>(j)])];
  if (what == 'N') return 0;

  // Columns that consist of rounding errors do not define a direction.
  const int64_t kept = what == 'A' ? rows : columns;
  const Real least =
      std::numeric_limits<Real>::epsilon() * static_cast<Real>(rows) * norms[static_cast<size_t>(order.front())];
  std::vector<T> left(static_cast<size_t>(rows * kept));
  int64_t rank = 0;
  for (; rank < columns; ++rank) {
    const int64_t from = order[static_cast<size_t>(rank)];
    const Real norm = norms[static_cast<size_t>(from)];
    if (!(norm > least)) break;
    for (int64_t i = 0; i < rows; ++i)
      left[static_cast<size_t>(i + rank * rows)] = tall[static_cast<size_t>(i + from * rows)] / norm;
  }
  completeBasis(rows, rank, kept, left.data());

  const auto rightAt = [&](int64_t i, int64_t j) {
    return right[static_cast<size_t>(i + order[static_cast<size_t>(j)] * columns)];
  };
  if (!wide) {
    std::copy(left.begin(), left.end(), u);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < columns; ++i) vh[j + i * columns] = conjugate(rightAt(i, j));
    }
    return 0;
  }
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < columns; ++i) u[i + j * columns] = rightAt(i, j);
  }
  for (int64_t j = 0; j < kept; ++j) {
    for (int64_t i = 0; i < rows; ++i) vh[j + i * kept] = conjugate(left[static_cast<size_t>(i + j * rows)]);
  }
  return 0;
}

}  // namespace boxcar::cpu::plain
