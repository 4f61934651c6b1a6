#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/shape/linalg.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

// What the operators of linear algebra share, and what they leave to each device. Unless something else is said,
// matrices are batches as allocateMatrices makes them, and [op] is the operator's name in messages.

namespace boxcar::dense {

// A batch of column-major matrices, not initialised.
Tensor allocateMatrices(std::span<const int64_t> sizes, ScalarType dtype, Device device);
// One with the elements of [source], which is broadcast.
Tensor copyMatrices(std::span<const int64_t> sizes, const Tensor& source);

// How many matrices [tensor] holds.
int64_t matrixCount(const Tensor& tensor);

enum class Failure { kSingular, kNotInvertible, kNotPositive, kNoSingularValues, kNoEigenvalues };

// The info of a matrix that holds a NaN, which no algorithm that iterates is given.
inline constexpr int32_t kHoldsNan = -4;

// An Error for the first matrix whose [info], int32, is not 0; waits for it where it is on another device. Nothing on
// Meta.
void checkInfo(std::string_view name, const Tensor& info, Failure failure);

// Overwrites square [matrices] with their factors L, without the ones on its diagonal, and U. Rows i and pivots[i]
// (from 1) were swapped in turn; [pivots] and [info] are contiguous int32. The info is the first pivot, from 1, that is
// zero.
using FactorLu = void(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info);
extern DeviceFunction<FactorLu> factorLu;
// Overwrites as many matrices b, of [columns] columns without gaps, with a^-1 b, or a^-T b when [transposed].
using SolveLu = void(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots, int64_t columns,
                     bool transposed);
extern DeviceFunction<SolveLu> solveLu;
// The products of the diagonals of U, with the sign that the pivots give, to [result].
using MultiplyPivots = void(const Tensor& result, const Tensor& factors, const Tensor& pivots);
extern DeviceFunction<MultiplyPivots> multiplyPivots;
// The same as a number of magnitude 1, or 0, and the logarithm of the magnitude.
using AddPivotLogarithms = void(const Tensor& sign, const Tensor& logarithm, const Tensor& factors,
                                const Tensor& pivots);
extern DeviceFunction<AddPivotLogarithms> addPivotLogarithms;

// Overwrites Hermitian [matrices], of which one triangle is read, with L of L L^H, or U of U^H U when [upper], and
// zeros in the other triangle. The info, int32, is the first leading minor, from 1, that is not positive.
using FactorCholesky = void(std::string_view op, const Tensor& matrices, const Tensor& info, bool upper);
extern DeviceFunction<FactorCholesky> factorCholesky;
// Overwrites [b], which has elements, with (L L^H)^-1 b, or (U^H U)^-1 b when [upper].
using SolveCholesky = void(std::string_view op, const Tensor& b, const Tensor& factors, bool upper);
extern DeviceFunction<SolveCholesky> solveCholesky;
// Overwrites [b], which has elements, with a^-1 b, or b a^-1 when not [left], where a is triangular, with ones on its
// diagonal when [unit].
using SolveTriangular = void(std::string_view op, const Tensor& b, const Tensor& a, bool left, bool upper, bool unit);
extern DeviceFunction<SolveTriangular> solveTriangular;

// Ones on the diagonals of square [matrices], zeros elsewhere.
using FillIdentity = void(const Tensor& matrices);
extern DeviceFunction<FillIdentity> fillIdentity;

// Writes the factors of [matrices], which are overwritten, to [r] and, when the mode forms it, to [q].
using DecomposeQr = void(std::string_view op, const Tensor& q, const Tensor& r, const Tensor& matrices,
                         const shape::QrMode& mode);
extern DeviceFunction<DecomposeQr> decomposeQr;

// Writes the eigenvalues of Hermitian [matrices], of which one triangle is read, to [values] in rising order, and
// overwrites the matrices with their eigenvectors when [vectors]. An info, int32, that is not 0 tells that the
// algorithm did not converge, or kHoldsNan. What belongs to a matrix with infinite elements is NaN.
using FindEigen = void(std::string_view op, const Tensor& values, const Tensor& matrices, const Tensor& info,
                       bool vectors, bool upper);
extern DeviceFunction<FindEigen> findEigen;

// Writes the singular values of [matrices], which have elements and are overwritten, to [s] in falling order. [what] is
// 'A' for square [u] and [vh], 'S' for as many columns and rows of them as there are values, 'N' for [s] alone. The
// info is as with findEigen.
struct SvdResult {
  const Tensor& u;
  const Tensor& s;
  const Tensor& vh;
  const Tensor& info;
};
using FindSvd = void(std::string_view op, char what, const Tensor& matrices, const SvdResult& result);
extern DeviceFunction<FindSvd> findSvd;

}  // namespace boxcar::dense
