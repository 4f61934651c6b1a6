#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <tuple>

// LU and Cholesky factors, and solvers that use them.

namespace boxcar::native {
namespace {

// LU factors of square matrices, or of their transposes if these are already column-major, as the library needs.
struct Lu {
  Tensor factors;
  Tensor pivots;
  Tensor info;
  bool transposed;
};

Lu factorsOf(std::string_view op, const Tensor& a, bool may_transpose = true) {
  const Device device = a.device();
  const bool transposed = may_transpose && a.is_contiguous() && !a.is_complex();
  const auto rank = static_cast<size_t>(a.dim());
  Lu lu{allocateMatrices(a.sizes(), a.scalar_type(), device),
        Tensor::allocate(meta::withoutLast(a), ScalarType::Int, device),
        Tensor::allocate(meta::batchSizes(a), ScalarType::Int, device), transposed};
  if (a.is_meta()) return lu;
  DimVector strides = toDimVector(lu.factors.strides());
  if (transposed) std::swap(strides[rank - 1], strides[rank - 2]);
  copyElements(lu.factors.view(a.sizes(), strides, 0), a);
  factorLu(device, op, lu.factors, lu.pivots, lu.info);
  return lu;
}

// Overwrites [b], a batch of column-major matrices matching the factors, with a^-1 b, or a^-T b if [transposed].
void solveInto(std::string_view op, const Tensor& b, const Lu& lu, bool transposed) {
  if (b.is_meta() || b.numel() == 0) return;
  const int64_t n = lu.factors.sizes().back();
  const int64_t columns = b.numel() / std::max<int64_t>(matrixCount(lu.factors) * n, 1);
  solveLu(b.device(), op, b, lu.factors, lu.pivots, columns, transposed);
}

// Returns the factors, repeated for each matrix of a larger batch.
Lu expanded(const Lu& lu, std::span<const int64_t> sizes) {
  if (std::ranges::equal(lu.factors.sizes(), sizes)) return lu;
  return {copyMatrices(sizes, lu.factors), toContiguous(meta::expandTo(lu.pivots, sizes.first(sizes.size() - 1))),
          lu.info, lu.transposed};
}

std::tuple<Tensor, Tensor> invEx(const Tensor& a, bool check_errors) {
  checkDense(a);
  meta::checkSquareMatrices("linalg.inv", a);
  const Lu lu = factorsOf("linalg.inv", a);
  const Tensor inverse = allocateMatrices(a.sizes(), a.scalar_type(), a.device());
  if (!a.is_meta()) fillIdentity(a.device(), inverse);
  solveInto("linalg.inv", inverse, lu, lu.transposed);
  if (check_errors) checkInfo("linalg.inv", lu.info, Failure::kNotInvertible);
  return {inverse, lu.info};
}

// Returns [b] as matrices of one column each.
Tensor withColumn(const Tensor& b) {
  DimVector sizes = toDimVector(b.sizes());
  DimVector strides = toDimVector(b.strides());
  sizes.push_back(1);
  strides.push_back(1);
  return b.view(sizes, strides, b.storage_offset());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solveEx(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  const Device device = commonDevice({&a, &b});
  meta::checkSquareMatrices("linalg.solve", a);
  BOXCAR_CHECK(b.dim() > 0, "linalg.solve: The input tensor B must have at least 1 dimension, but it has none.");
  const bool vectors = meta::holdsVectors(a, b);
  const Tensor matrices = vectors ? withColumn(b) : b;
  const meta::Equation equation = meta::checkEquation("linalg.solve", a, matrices, left);
  const Lu lu = factorsOf("linalg.solve", a, /*may_transpose=*/false);

  // X A = B is A^T X^T = B^T, and a row-major X is a column-major X^T.
  const Tensor x =
      left ? copyMatrices(equation.b_sizes, matrices) : Tensor::allocate(equation.b_sizes, b.scalar_type(), device);
  if (!left) copyElements(x, meta::expandTo(matrices, equation.b_sizes));
  solveInto("linalg.solve", x, expanded(lu, equation.a_sizes), lu.transposed == left);
  if (check_errors) checkInfo("linalg.solve", lu.info, Failure::kSingular);
  if (!vectors) return {x, lu.factors, lu.pivots, lu.info};

  const auto sizes = std::span<const int64_t>(equation.b_sizes).first(equation.b_sizes.size() - 1);
  // Vectors get PyTorch's strides: those of matrices if there are several.
  const Tensor result = sizes.size() > 1 && left ? allocateMatrices(sizes, x.scalar_type(), device)
                                                 : Tensor::allocate(sizes, x.scalar_type(), device);
  copyElements(result, x.view(sizes, x.strides().first(sizes.size()), 0));
  return {result, lu.factors, lu.pivots, lu.info};
}

std::tuple<Tensor, Tensor, Tensor> det(const Tensor& a) {
  checkDense(a);
  meta::checkSquareMatrices("linalg.det", a);
  const Lu lu = factorsOf("linalg.det", a);
  const Tensor result = Tensor::allocate(meta::batchSizes(a), a.scalar_type(), a.device());
  if (!a.is_meta()) multiplyPivots(a.device(), result, lu.factors, lu.pivots);
  return {result, lu.factors, lu.pivots};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet(const Tensor& a) {
  checkDense(a);
  meta::checkSquareMatrices("linalg.slogdet", a);
  const Lu lu = factorsOf("linalg.slogdet", a);
  const Tensor sign = Tensor::allocate(meta::batchSizes(a), a.scalar_type(), a.device());
  const Tensor logarithm = Tensor::allocate(meta::batchSizes(a), meta::realType(a.scalar_type()), a.device());
  if (!a.is_meta()) addPivotLogarithms(a.device(), sign, logarithm, lu.factors, lu.pivots);
  return {sign, logarithm, lu.factors, lu.pivots};
}

// Returns the factor, with zeros in the other triangle, and the info.
std::tuple<Tensor, Tensor> choleskyOf(std::string_view name, const Tensor& a, bool upper) {
  checkDense(a);
  meta::checkSquareMatrices(name, a);
  const Tensor factor = copyMatrices(a.sizes(), a);
  const Tensor info = Tensor::allocate(meta::batchSizes(a), ScalarType::Int, a.device());
  if (!a.is_meta()) factorCholesky(a.device(), name, factor, info, upper);
  return {factor, info};
}

std::tuple<Tensor, Tensor> choleskyEx(const Tensor& self, bool upper, bool check_errors) {
  auto [factor, info] = choleskyOf("linalg.cholesky", self, upper);
  if (check_errors) checkInfo("linalg.cholesky", info, Failure::kNotPositive);
  return {std::move(factor), std::move(info)};
}

Tensor cholesky(const Tensor& self, bool upper) {
  auto [factor, info] = choleskyOf("cholesky", self, upper);
  checkInfo("cholesky", info, Failure::kNotPositive);
  return factor;
}

Tensor choleskySolve(const Tensor& b, const Tensor& factor, bool upper) {
  commonDevice({&b, &factor});
  const meta::Equation equation = meta::checkEquation("cholesky_solve", factor, b, /*left=*/true);
  const Tensor a = copyMatrices(equation.a_sizes, factor);
  const Tensor x = copyMatrices(equation.b_sizes, b);
  if (!x.is_meta() && x.numel() > 0) solveCholesky(x.device(), "cholesky_solve", x, a, upper);
  return x;
}

Tensor triangularSolution(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
  commonDevice({&self, &b});
  const meta::Equation equation = meta::checkEquation("linalg.solve_triangular", self, b, left);
  const Tensor a = copyMatrices(equation.a_sizes, self);
  const Tensor x = copyMatrices(equation.b_sizes, b);
  if (!x.is_meta() && x.numel() > 0) {
    solveTriangular(x.device(), "linalg.solve_triangular", x, a, left, upper, unitriangular);
  }
  return x;
}

std::tuple<Tensor, Tensor> oldTriangularSolve(const Tensor& self, const Tensor& a, bool upper, bool transpose,
                                              bool unitriangular) {
  commonDevice({&self, &a});
  const meta::Equation equation = meta::checkEquation("triangular_solve", a, self, /*left=*/true);
  const Tensor copy = copyMatrices(equation.a_sizes, a);
  const Tensor x = copyMatrices(equation.b_sizes, self);
  if (!x.is_meta() && x.numel() > 0) {
    const Tensor factors = transpose ? copyMatrices(equation.a_sizes, boxcar::transpose(a, -2, -1)) : copy;
    solveTriangular(x.device(), "triangular_solve", x, factors, /*left=*/true, upper != transpose, unitriangular);
  }
  return {x, copy};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, factorLu, solveLu, fillIdentity) {
  m.impl("linalg_inv_ex", BOXCAR_FN(invEx));
  m.impl("_linalg_solve_ex", BOXCAR_FN(solveEx));
}

BOXCAR_NATIVE_KERNELS(aten, m, factorLu, multiplyPivots, addPivotLogarithms) {
  m.impl("_linalg_det", BOXCAR_FN(det));
  m.impl("_linalg_slogdet", BOXCAR_FN(slogdet));
}

BOXCAR_NATIVE_KERNELS(aten, m, factorCholesky, solveCholesky, solveTriangular) {
  m.impl("linalg_cholesky_ex", BOXCAR_FN(choleskyEx));
  m.impl("cholesky", BOXCAR_FN(cholesky));
  m.impl("cholesky_solve", BOXCAR_FN(choleskySolve));
  m.impl("linalg_solve_triangular", BOXCAR_FN(triangularSolution));
  m.impl("triangular_solve", BOXCAR_FN(oldTriangularSolve));
}

}  // namespace boxcar::native
