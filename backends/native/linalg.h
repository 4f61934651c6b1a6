#pragma once

#include <boxcar/backends/meta/linalg.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

// Shared by the linear algebra operators, and what they leave to each device. Unless stated otherwise, matrices are
// batches as allocateMatrices makes them, and [op] is the operator's name in messages.

namespace boxcar::native {

// Allocates an uninitialised batch of column-major matrices.
Tensor allocateMatrices(std::span<const int64_t> sizes, ScalarType dtype, Device device);
// Returns such a batch with the elements of [source], broadcast to [sizes].
Tensor copyMatrices(std::span<const int64_t> sizes, const Tensor& source);

// Returns how many matrices [tensor] holds.
int64_t matrixCount(const Tensor& tensor);

enum class Failure {
  kSingular,
  kNotInvertible,
  kNotPositive,
  kNoSingularValues,
  kNoEigenvalues,
  kZeroPivot,
  kRankDeficient,
  kSingularBlock
};

// The info of a matrix that contains NaN; such matrices are not passed to iterative algorithms.
inline constexpr int32_t kHoldsNan = -4;

// Throws Error for the first matrix whose [info], int32, is not 0; waits for it if it is on another device. Does
// nothing on Meta.
void checkInfo(std::string_view name, const Tensor& info, Failure failure);
// Returns what a nonzero info of the operator [api_name] means. Throws Error for operators that have no info.
Failure failureOf(std::string_view api_name);

// Overwrites [matrices] with their factors L, without its unit diagonal, and U. Row i was swapped with row
// pivots[i], counted from 1, in order of i. [pivots] and [info] are contiguous int32. The info is the first zero pivot,
// counted from 1.
using FactorLu = void(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info);
extern DeviceStub<FactorLu> factorLu;
// Overwrites as many matrices b, dense with [columns] columns, with a^-1 b, or a^-T b if [transposed].
using SolveLu = void(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots, int64_t columns,
                     bool transposed);
extern DeviceStub<SolveLu> solveLu;
// Writes the products of the diagonals of U, with the sign from the pivots, to [result].
using MultiplyPivots = void(const Tensor& result, const Tensor& factors, const Tensor& pivots);
extern DeviceStub<MultiplyPivots> multiplyPivots;
// Writes the same product as a number of magnitude 1, or 0, and the logarithm of its magnitude.
using AddPivotLogarithms = void(const Tensor& sign, const Tensor& logarithm, const Tensor& factors,
                                const Tensor& pivots);
extern DeviceStub<AddPivotLogarithms> addPivotLogarithms;

// Overwrites symmetric, or Hermitian, [matrices], reading the lower triangle, with the factors L and D of L D L^T, or
// L D L^H, and zeros above them. [pivots] are LAPACK's (cpu/lapack.h); the info is the first zero of D, counted from 1.
using FactorLdl = void(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info,
                       bool hermitian);
extern DeviceStub<FactorLdl> factorLdl;
// Overwrites [b], which has elements, with the solutions. The pivots must be such as factorLdl returns.
using SolveLdl = void(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots,
                      bool hermitian);
extern DeviceStub<SolveLdl> solveLdl;

// Overwrites Hermitian [matrices], reading one triangle, with L of L L^H, or U of U^H U if [upper], and zeros in the
// other triangle. The info, int32, is the order of the first leading minor that is not positive.
using FactorCholesky = void(std::string_view op, const Tensor& matrices, const Tensor& info, bool upper);
extern DeviceStub<FactorCholesky> factorCholesky;
// Overwrites [b], which has elements, with (L L^H)^-1 b, or (U^H U)^-1 b if [upper].
using SolveCholesky = void(std::string_view op, const Tensor& b, const Tensor& factors, bool upper);
extern DeviceStub<SolveCholesky> solveCholesky;
// Overwrites [b], which has elements, with a^-1 b, or b a^-1 if not [left]; a is triangular, with a unit diagonal if
// [unit].
using SolveTriangular = void(std::string_view op, const Tensor& b, const Tensor& a, bool left, bool upper, bool unit);
extern DeviceStub<SolveTriangular> solveTriangular;

// Writes ones to the diagonals of square [matrices] and zeros elsewhere.
using FillIdentity = void(const Tensor& matrices);
extern DeviceStub<FillIdentity> fillIdentity;

// Writes the factors of [matrices], which are overwritten, to [r] and, if the mode forms it, to [q].
using DecomposeQr = void(std::string_view op, const Tensor& q, const Tensor& r, const Tensor& matrices,
                         const meta::QrMode& mode);
extern DeviceStub<DecomposeQr> decomposeQr;

// Overwrites [matrices] with R and, below it, the reflections that form Q; their factors go to [tau].
using FactorQr = void(std::string_view op, const Tensor& matrices, const Tensor& tau);
extern DeviceStub<FactorQr> factorQr;
// Overwrites [matrices], which have elements and whose first columns hold as many reflections as [tau] has factors,
// with the first columns of Q. [tau] is contiguous.
using FormQ = void(std::string_view op, const Tensor& matrices, const Tensor& tau);
extern DeviceStub<FormQ> formQ;
// Overwrites [matrices], which have elements, with Q times them, or them times Q if not [left]; with Q^H if [adjoint].
using ApplyQ = void(std::string_view op, const Tensor& matrices, const Tensor& reflections, const Tensor& tau,
                    bool left, bool adjoint);
extern DeviceStub<ApplyQ> applyQ;

// Writes the eigenvalues of [matrices], which are overwritten, to complex [values] and, if [vectors] is defined, the
// eigenvectors to it. The info is as for findEigen, but no matrix may have infinite elements either.
using FindGeneralEigen = void(std::string_view op, const Tensor& values, const Tensor& vectors, const Tensor& matrices,
                              const Tensor& info);
extern DeviceStub<FindGeneralEigen> findGeneralEigen;

// Least squares by the LAPACK function [method] (cpu/lapack.h). Overwrites the matrices [a] and [b]; b has at least one
// column and as many rows as the longer side of a. [rank] is int64, [s] has the singular values of each matrix.
enum class LeastSquares { kGels, kGelsy, kGelsd, kGelss };
struct LeastSquaresResult {
  const Tensor& b;
  const Tensor& rank;
  const Tensor& s;
  const Tensor& info;
};
using SolveLeastSquares = void(std::string_view op, LeastSquares method, double rcond, const Tensor& a,
                               const LeastSquaresResult& result);
extern DeviceStub<SolveLeastSquares> solveLeastSquares;

// Writes the eigenvalues of Hermitian [matrices], reading one triangle, to [values] in ascending order, and overwrites
// the matrices with their eigenvectors if [vectors]. A nonzero info, int32, means that the algorithm did not converge,
// or is kHoldsNan. The results of a matrix with infinite elements are NaN.
using FindEigen = void(std::string_view op, const Tensor& values, const Tensor& matrices, const Tensor& info,
                       bool vectors, bool upper);
extern DeviceStub<FindEigen> findEigen;

// Writes the singular values of [matrices], which have elements and are overwritten, to [s] in descending order. [what]
// is 'A' for square [u] and [vh], 'S' for as many columns of [u] and rows of [vh] as there are values, 'N' for [s]
// alone. The info is as for findEigen.
struct SvdResult {
  const Tensor& u;
  const Tensor& s;
  const Tensor& vh;
  const Tensor& info;
};
using FindSvd = void(std::string_view op, char what, const Tensor& matrices, const SvdResult& result);
extern DeviceStub<FindSvd> findSvd;

}  // namespace boxcar::native
