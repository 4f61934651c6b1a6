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
constinit DeviceStub<FactorLdl> factorLdl("linalg.ldl_factor");
constinit DeviceStub<SolveLdl> solveLdl("linalg.ldl_solve");
constinit DeviceStub<FactorQr> factorQr("geqrf");
constinit DeviceStub<FormQ> formQ("linalg.householder_product");
constinit DeviceStub<ApplyQ> applyQ("ormqr");
constinit DeviceStub<FindGeneralEigen> findGeneralEigen("linalg.eig");
constinit DeviceStub<SolveLeastSquares> solveLeastSquares("linalg.lstsq");
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
    case Failure::kZeroPivot:
      return fmt::format(
          "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
          "perform "
          "the factorization, consider calling linalg.lu(A) or linalg.lu_factor_ex(A).",
          info);
    case Failure::kRankDeficient:
      return fmt::format(
          "The least squares solution could not be computed because the input matrix does not have full rank (error "
          "code: {}); the drivers 'gelsy', 'gelsd' and 'gelss' need no full rank.",
          info);
    case Failure::kSingularBlock:
      return fmt::format(
          "D[{0},{0}] is zero, and the factors cannot be used to solve equations. If you still want them, call "
          "linalg.ldl_factor_ex(A).",
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

Failure failureOf(std::string_view api_name) {
  struct Meaning {
    std::string_view part;
    Failure failure;
  };
  constexpr Meaning kMeanings[] = {
      {"inv", Failure::kNotInvertible},   {"cholesky", Failure::kNotPositive}, {"svd", Failure::kNoSingularValues},
      {"eig", Failure::kNoEigenvalues},   {"syevd", Failure::kNoEigenvalues},  {"lstsq", Failure::kRankDeficient},
      {"lu_factor", Failure::kZeroPivot}, {"ldl", Failure::kSingularBlock},    {"solve", Failure::kSingular},
  };
  for (const auto& [part, failure] : kMeanings) {
    if (api_name.find(part) != std::string_view::npos) return failure;
  }
  BOXCAR_FAIL("_linalg_check_errors: api_name '{}' is no linear algebra operator with an info, such as 'linalg.inv'",
              api_name);
}

}  // namespace boxcar::native
