#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/element.h>

#include <cstdint>

namespace boxcar::cpu {

// The LAPACK functions that linear algebra needs, for one matrix at a time of float, double or a complex type. Matrices
// are column-major without gaps: element (i, j) of a matrix with m rows is a[i + j * m]. Sizes are at least 1 and fit
// an int. An `info` of 0 means success.
template <class T>
struct Lapack {
  using Real = RealOf<T>;

  // Factors a (m by n) into L, below the diagonal with an implicit unit diagonal, and U; rows i and pivots[i] (from 1)
  // were swapped in turn. The info is the first zero pivot, from 1.
  int (*factorLu)(int64_t m, int64_t n, T* a, int32_t* pivots);
  // Solves b = a^-1 b, or a^-T b if [transposed], from the factors; b is n by [columns].
  void (*solveLu)(bool transposed, int64_t n, int64_t columns, const T* a, const int32_t* pivots, T* b);
  // a = L L^H, or U^H U if [upper]; the other triangle is neither read nor written. The info is the first leading
  // minor, from 1, that is not positive.
  int (*factorCholesky)(bool upper, int64_t n, T* a);
  void (*solveCholesky)(bool upper, int64_t n, int64_t columns, const T* a, T* b);
  // b = a^-1 b with a triangular a of n by n, or b = b a^-1 if not [left]; b is m by n.
  void (*solveTriangular)(bool left, bool upper, bool unit, int64_t m, int64_t n, const T* a, T* b);
  // a = Q R: R is on and above the diagonal; the reflections that form Q are below it and in [tau], which has min(m, n)
  // elements.
  int (*factorQr)(int64_t m, int64_t n, T* a, T* tau);
  // Forms the first n columns of Q from k reflections in the first k columns of a, m by n.
  int (*formQ)(int64_t m, int64_t n, int64_t k, T* a, const T* tau);
  // Computes the eigenvalues, in ascending order, of a Hermitian a, of which one triangle is read; its columns become
  // eigenvectors. A nonzero info means that the algorithm did not converge.
  int (*findEigen)(bool vectors, bool upper, int64_t n, T* a, Real* values);
  // a = U diag(s) V^H, with s descending. [what] is 'A' for square u and vh, 'S' for their first min(m, n) columns and
  // rows, 'N' for s alone. Overwrites a.
  int (*findSvd)(char what, int64_t m, int64_t n, T* a, Real* s, T* u, T* vh);
};

// Returns OpenBLAS's functions if it is available (openblas/), else the plain ones.
template <class T>
const Lapack<T>& lapack();

// Returns OpenBLAS's functions; null if it is not available.
template <class T>
const Lapack<T>* openBlasLapack();

// Returns the functions that need no library: LU with partial pivoting, Cholesky, Householder QR, Jacobi eigenvectors
// and singular values.
template <class T>
const Lapack<T>& plainLapack();

}  // namespace boxcar::cpu
