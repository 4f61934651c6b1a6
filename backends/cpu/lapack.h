#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/native/linalg.h>

#include <complex>
#include <cstdint>

namespace boxcar::cpu {

// LAPACK's functions for least squares: by QR factors of a matrix of full rank, by QR factors with pivots, and by
// singular values, found by divide and conquer or by QR iterations.
using native::LeastSquares;

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
  // c = Q c, or c Q if not [left], with Q^H for Q if [adjoint]; c is m by n, and Q is formed by the k reflections in
  // the first columns of a, which has as many rows as Q.
  int (*applyQ)(bool left, bool adjoint, int64_t m, int64_t n, int64_t k, T* a, const T* tau, T* c);
  // Computes the eigenvalues of any a, which is overwritten, and its eigenvectors, n by n and of length 1, unless
  // [vectors] is null. A nonzero info means that the algorithm did not converge.
  int (*findGeneralEigen)(int64_t n, T* a, std::complex<Real>* values, std::complex<Real>* vectors);
  // Overwrites b, max(m, n) by [columns], with the x of n rows for which a x - b is least, and of these the least x.
  // The squares of its rows from n on add up to those of a x - b if the rank is n. Overwrites a. Singular values up to
  // rcond times the greatest count as zero, or none do with kGels. [rank] is set except by kGels, and s, min(m, n)
  // values, by the last two. The info is greater than 0 if kGels finds that a has not full rank, or if the algorithm
  // did not converge.
  int (*solveLeastSquares)(LeastSquares method, int64_t m, int64_t n, int64_t columns, Real rcond, T* a, T* b, Real* s,
                           int64_t* rank);
  // a = L D L^T, or L D L^H if [hermitian], where D has blocks of 1 or 2 rows; only the lower triangle is read and
  // written. Row i was swapped with row pivots[i], from 1; a block of two rows has the same negative pivot twice, and
  // its second row was swapped. The info is the first zero on D's diagonal, from 1.
  int (*factorLdl)(bool hermitian, int64_t n, T* a, int32_t* pivots);
  void (*solveLdl)(bool hermitian, int64_t n, int64_t columns, T* a, const int32_t* pivots, T* b);
};

// Returns OpenBLAS's functions if it is available (openblas/), else the plain ones.
template <class T>
const Lapack<T>& lapack();

// Returns OpenBLAS's functions; null if it is not available.
template <class T>
const Lapack<T>* openBlasLapack();

// Returns the functions that need no library: LU with partial pivoting, Cholesky, LDL, Householder QR, Jacobi
// eigenvectors and singular values, and QR iterations for other eigenvalues.
template <class T>
const Lapack<T>& plainLapack();

}  // namespace boxcar::cpu
