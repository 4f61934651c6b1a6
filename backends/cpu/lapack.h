#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/elements/element.h>

#include <cstdint>

namespace boxcar::cpu {

// What LAPACK does for linear algebra, for one matrix at a time of float, double or a complex type. Matrices are
// column-major without gaps: the element (i, j) of one with m rows is a[i + j * m]. Sizes are 1 or more and fit an int.
// An `info` of 0 is success.
template <class T>
struct Lapack {
  using Real = RealOf<T>;

  // Factors a (m by n) into L below the diagonal, with ones on it, and U; rows i and pivots[i] (from 1) were swapped in
  // turn. The info is the first pivot, from 1, that is zero.
  int (*factorLu)(int64_t m, int64_t n, T* a, int32_t* pivots);
  // b = a^-1 b, or a^-T b when [transposed], with b of n by [columns], from the factors.
  void (*solveLu)(bool transposed, int64_t n, int64_t columns, const T* a, const int32_t* pivots, T* b);
  // a = L L^H, or U^H U when [upper]; the other triangle is not read or written. The info is the first leading minor,
  // from 1, that is not positive.
  int (*factorCholesky)(bool upper, int64_t n, T* a);
  void (*solveCholesky)(bool upper, int64_t n, int64_t columns, const T* a, T* b);
  // b = a^-1 b with a triangular a of n by n, or b = b a^-1 when not [left]; b is m by n.
  void (*solveTriangular)(bool left, bool upper, bool unit, int64_t m, int64_t n, const T* a, T* b);
  // a = Q R: R on and above the diagonal, and below it and in [tau], of min(m, n), the reflections that make Q.
  int (*factorQr)(int64_t m, int64_t n, T* a, T* tau);
  // The first n columns of Q from k reflections in the first k columns of a, m by n.
  int (*formQ)(int64_t m, int64_t n, int64_t k, T* a, const T* tau);
  // Eigenvalues in rising order of a Hermitian a, of which one triangle is read; its columns become eigenvectors. The
  // info tells that the algorithm did not converge.
  int (*findEigen)(bool vectors, bool upper, int64_t n, T* a, Real* values);
  // a = U diag(s) V^H, s falling. [what] is 'A' for square u and vh, 'S' for min(m, n) columns and rows of them, 'N'
  // for s alone. Overwrites a.
  int (*findSvd)(char what, int64_t m, int64_t n, T* a, Real* s, T* u, T* vh);
};

// OpenBLAS's where it is (openblas/), else the plain one.
template <class T>
const Lapack<T>& lapack();

// OpenBLAS's; null where it is missing.
template <class T>
const Lapack<T>* openBlasLapack();

// Without a library: LU with partial pivoting, Cholesky, Householder's QR, Jacobi's eigenvectors and singular values.
template <class T>
const Lapack<T>& plainLapack();

}  // namespace boxcar::cpu
