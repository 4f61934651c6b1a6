#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/solvers.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/factories.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/triangles.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <array>

namespace boxcar::cuda {
namespace {

const SolverFunctions& solvers() { return *module().solvers; }

MatrixBatch batchOf(std::string_view op, const Tensor& matrices) {
  const auto sizes = matrices.sizes().last(2);
  return {op, matrices.scalar_type(), native::matrixCount(matrices), sizes[0], sizes[1], matrices.data_ptr()};
}

int32_t* infosOf(const Tensor& tensor) { return static_cast<int32_t*>(tensor.data_ptr()); }

void clear(const Tensor& tensor) { native::zeroBytes(tensor.device(), tensor.data_ptr(), tensor.nbytes()); }

// Returns the first [rows] rows and [columns] columns of each matrix.
Tensor corner(const Tensor& matrices, int64_t rows, int64_t columns) {
  DimVector sizes = toDimVector(matrices.sizes());
  sizes[sizes.size() - 2] = rows;
  sizes[sizes.size() - 1] = columns;
  return matrices.view(sizes, matrices.strides(), matrices.storage_offset());
}

// Whether the matrices are empty: then there is nothing to factor and no failure, so [info] is set to 0.
bool isEmpty(const Tensor& matrices, const Tensor& info) {
  if (matrices.numel() > 0) return false;
  if (info.numel() > 0) clear(info);
  return true;
}

void factorLu(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info) {
  if (!isEmpty(matrices, info)) solvers().factor_lu(batchOf(op, matrices), infosOf(pivots), infosOf(info));
}

void solveLu(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots, int64_t columns,
             bool transposed) {
  const MatrixBatch a = batchOf(op, factors);
  solvers().solve_lu(transposed, a, infosOf(pivots), {op, a.type, a.count, a.rows, columns, b.data_ptr()});
}

void determinants(const Tensor& result, const Tensor* logarithm, const Tensor& factors, const Tensor& pivots) {
  module().determinants({factors.data_ptr(), infosOf(pivots), result.data_ptr(),
                         logarithm != nullptr ? logarithm->data_ptr() : nullptr, factors.scalar_type(), result.numel(),
                         factors.sizes().back()});
}
void multiplyPivots(const Tensor& result, const Tensor& factors, const Tensor& pivots) {
  determinants(result, nullptr, factors, pivots);
}
void addPivotLogarithms(const Tensor& sign, const Tensor& logarithm, const Tensor& factors, const Tensor& pivots) {
  determinants(sign, &logarithm, factors, pivots);
}

void factorCholesky(std::string_view op, const Tensor& matrices, const Tensor& info, bool upper) {
  if (isEmpty(matrices, info)) return;
  solvers().factor_cholesky(upper, batchOf(op, matrices), infosOf(info));
  native::writeTriangle(matrices.device(), matrices, matrices, 0,
                        upper ? native::Triangle::kUpper : native::Triangle::kLower);
}

void solveCholesky(std::string_view op, const Tensor& b, const Tensor& factors, bool upper) {
  solvers().solve_cholesky(upper, batchOf(op, factors), batchOf(op, b));
}

void solveTriangular(std::string_view op, const Tensor& b, const Tensor& a, bool left, bool upper, bool unit) {
  solvers().solve_triangular(left, upper, unit, batchOf(op, a), batchOf(op, b));
}

void fillIdentity(const Tensor& matrices) {
  if (matrices.numel() == 0) return;
  clear(matrices);
  const int64_t n = matrices.sizes().back();
  const std::array<int64_t, 2> sizes{native::matrixCount(matrices), n};
  const std::array<int64_t, 2> strides{n * n, n + 1};
  Tensor diagonals = matrices.view(sizes, strides, matrices.storage_offset());
  boxcar::fill_(diagonals, 1);
}

void decomposeQr(std::string_view op, const Tensor& q, const Tensor& r, const Tensor& matrices,
                 const meta::QrMode& mode) {
  const MatrixBatch a = batchOf(op, matrices);
  const int64_t k = std::min(a.rows, a.columns);
  const std::array<int64_t, 2> sizes{a.count, k};
  const Tensor tau = Tensor::allocate(sizes, a.type, matrices.device());
  if (matrices.numel() > 0) {
    solvers().factor_qr(a, tau.data_ptr());
    native::writeTriangle(r.device(), r, corner(matrices, r.sizes().last(2)[0], a.columns), 0,
                          native::Triangle::kUpper);
  }
  if (!mode.forms_q || q.numel() == 0) return;
  if (k == 0) return fillIdentity(q);
  native::copyElements(corner(q, a.rows, k), corner(matrices, a.rows, k));
  solvers().form_q(batchOf(op, q), k, tau.data_ptr());
}

void factorQr(std::string_view op, const Tensor& matrices, const Tensor& tau) {
  if (matrices.numel() > 0) solvers().factor_qr(batchOf(op, matrices), tau.data_ptr());
}

void formQ(std::string_view op, const Tensor& matrices, const Tensor& tau) {
  solvers().form_q(batchOf(op, matrices), tau.sizes().back(), tau.data_ptr());
}

void findEigen(std::string_view op, const Tensor& values, const Tensor& matrices, const Tensor& info, bool vectors,
               bool upper) {
  refuseInGraph("factors a matrix by cuSOLVER, which waits for the device");
  if (isEmpty(matrices, info)) return;
  solvers().find_eigen(vectors, upper, batchOf(op, matrices), values.data_ptr(), infosOf(info));
}

// A column-major V is the transpose of V in row-major order.
void findSvd(std::string_view op, char what, const Tensor& matrices, const native::SvdResult& result) {
  refuseInGraph("factors a matrix by cuSOLVER, which waits for the device");
  const MatrixBatch a = batchOf(op, matrices);
  Tensor v;
  if (what != 'N') v = Tensor::allocate(result.vh.sizes(), a.type, matrices.device());
  solvers().find_svd(what, a, result.s.data_ptr(), what == 'N' ? nullptr : result.u.data_ptr(),
                     what == 'N' ? nullptr : v.data_ptr(), infosOf(result.info));
  if (what != 'N') native::copyElements(result.vh, v.is_complex() ? boxcar::conj_physical(v) : v);
}

}  // namespace

BOXCAR_REGISTER_STUB(CUDA, native::factorLu, factorLu)
BOXCAR_REGISTER_STUB(CUDA, native::solveLu, solveLu)
BOXCAR_REGISTER_STUB(CUDA, native::multiplyPivots, multiplyPivots)
BOXCAR_REGISTER_STUB(CUDA, native::addPivotLogarithms, addPivotLogarithms)
BOXCAR_REGISTER_STUB(CUDA, native::factorCholesky, factorCholesky)
BOXCAR_REGISTER_STUB(CUDA, native::solveCholesky, solveCholesky)
BOXCAR_REGISTER_STUB(CUDA, native::solveTriangular, solveTriangular)
BOXCAR_REGISTER_STUB(CUDA, native::fillIdentity, fillIdentity)
BOXCAR_REGISTER_STUB(CUDA, native::decomposeQr, decomposeQr)
BOXCAR_REGISTER_STUB(CUDA, native::factorQr, factorQr)
BOXCAR_REGISTER_STUB(CUDA, native::formQ, formQ)
BOXCAR_REGISTER_STUB(CUDA, native::findEigen, findEigen)
BOXCAR_REGISTER_STUB(CUDA, native::findSvd, findSvd)

}  // namespace boxcar::cuda
