#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/linalg.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <string>

namespace boxcar::native {

constinit DeviceStub<FactorLu> factorLu("lu");
constinit DeviceStub<SolveLu> solveLu("lu_solve");
constinit DeviceStub<MultiplyPivots> multiplyPivots("linalg.det");
constinit DeviceStub<AddPivotLogarithms> addPivotLogarithms("linalg.slogdet");
constinit DeviceStub<FactorCholesky> factorCholesky("cholesky");
constinit DeviceStub<SolveCholesky> solveCholesky("cholesky_solve");
constinit DeviceStub<SolveTriangular> solveTriangular("linalg.solve_triangular");
constinit DeviceStub<FillIdentity> fillIdentity("eye");
constinit DeviceStub<DecomposeQr> decomposeQr("linalg.qr");
constinit DeviceStub<FindEigen> findEigen("linalg.eigh");
constinit DeviceStub<FindSvd> findSvd("linalg.svd");

namespace {

std::string explain(Failure failure, int32_t info) {
  if (info == kHoldsNan)
    return "The algorithm failed to converge because the input matrix contained non-finite values.";
  switch (failure) {
    case Failure::kSingular: return "The solver failed because the input matrix is singular.";
    case Failure::kNotInvertible:
      return fmt::format(
          "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular.",
          info);
    case Failure::kNotPositive:
      return fmt::format(
          "The factorization could not be completed because the input is not positive-definite (the leading minor of "
          "order {} is not positive-definite).",
          info);
    case Failure::kNoSingularValues:
      return fmt::format(
          "The algorithm failed to converge because the input matrix contained non-finite values, is ill-conditioned "
          "or "
          "has too many repeated singular values (error code: {}).",
          info);
    case Failure::kNoEigenvalues: break;
  }
  return fmt::format(
      "The algorithm failed to converge because the input matrix contained non-finite values, is ill-conditioned or "
      "has "
      "too many repeated eigenvalues (error code: {}).",
      info);
}

}  // namespace

Tensor allocateMatrices(std::span<const int64_t> sizes, ScalarType dtype, Device device) {
  return meta::allocateStrided(sizes, meta::columnMajorStrides(sizes), dtype, device);
}

Tensor copyMatrices(std::span<const int64_t> sizes, const Tensor& source) {
  const Tensor expanded = meta::expandTo(source, sizes);
  const Tensor copy = allocateMatrices(sizes, source.scalar_type(), source.device());
  copyElements(copy, expanded);
  return copy;
}

int64_t matrixCount(const Tensor& tensor) {
  int64_t count = 1;
  for (const int64_t size : meta::batchSizes(tensor)) count *= size;
  return count;
}

void checkInfo(std::string_view name, const Tensor& info, Failure failure) {
  if (info.is_meta()) return;
  const Tensor on_host = toDevice(info, DeviceType::CPU);
  const int32_t* infos = on_host.const_data_ptr<int32_t>();
  for (int64_t i = 0; i < info.numel(); ++i) {
    if (infos[i] == 0) continue;
    const std::string where = info.dim() == 0 ? "" : fmt::format("(Batch element {}): ", i);
    BOXCAR_FAIL("{}: {}{}", name, where, explain(failure, infos[i]));
  }
}

}  // namespace boxcar::native
