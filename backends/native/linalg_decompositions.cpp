#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>

// QR, singular values and eigenvectors.

namespace boxcar::native {
namespace {

Tensor nothing(const Tensor& like) {
  constexpr int64_t kNone[] = {0};
  return Tensor::allocate(kNone, like.scalar_type(), like.device());
}

std::tuple<Tensor, Tensor> qr(const Tensor& a, std::string_view mode_name) {
  checkDense(a);
  meta::checkMatrices("linalg.qr", a);
  const meta::QrMode mode = meta::qrMode(mode_name);
  const auto batch = meta::batchSizes(a);
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = a.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const int64_t columns = mode.reduced ? k : m;  // columns of Q, and rows of R
  const ScalarType type = a.scalar_type();
  const Tensor q = mode.forms_q ? allocateMatrices(meta::matrixSizes(batch, m, columns), type, a.device()) : nothing(a);
  const Tensor r = allocateMatrices(meta::matrixSizes(batch, columns, n), type, a.device());
  if (!a.is_meta()) decomposeQr(a.device(), "linalg.qr", q, r, copyMatrices(a.sizes(), a), mode);
  return {q, r};
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices, bool compute_uv,
                                       std::optional<std::string_view> driver) {
  checkDense(a);
  meta::checkMatrices("linalg.svd", a);
  BOXCAR_CHECK(!driver.has_value() || !a.is_cpu(),
               "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs, but it is '{}'",
               driver.value_or(""));
  BOXCAR_CHECK(!driver.has_value() || *driver == "gesvdj", "linalg.svd: there is no driver '{}'; CUDA has 'gesvdj'",
               driver.value_or(""));
  const auto batch = meta::batchSizes(a);
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = a.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const ScalarType type = a.scalar_type();
  const Device device = a.device();
  DimVector values_sizes = toDimVector(batch);
  values_sizes.push_back(k);
  const Tensor u =
      compute_uv ? allocateMatrices(meta::matrixSizes(batch, m, full_matrices ? m : k), type, device) : nothing(a);
  const Tensor s = Tensor::allocate(values_sizes, meta::realType(type), device);
  const Tensor vh =
      compute_uv ? allocateMatrices(meta::matrixSizes(batch, full_matrices ? n : k, n), type, device) : nothing(a);
  if (a.is_meta()) return {u, s, vh};
  if (a.numel() > 0) {
    const Tensor info = Tensor::allocate(batch, ScalarType::Int, device);
    const char what = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
    findSvd(device, "linalg.svd", what, copyMatrices(a.sizes(), a), {u, s, vh, info});
    checkInfo("linalg.svd", info, Failure::kNoSingularValues);
  } else if (compute_uv && full_matrices) {
    fillIdentity(device, u);
    fillIdentity(device, vh);
  }
  return {u, s, vh};
}

std::tuple<Tensor, Tensor> eigh(const Tensor& a, std::string_view uplo, bool compute_v) {
  checkDense(a);
  meta::checkSquareMatrices("linalg.eigh", a);
  const bool upper = meta::isUpperTriangle(uplo);
  const ScalarType type = a.scalar_type();
  const Tensor values = Tensor::allocate(meta::withoutLast(a), meta::realType(type), a.device());
  const Tensor vectors = copyMatrices(a.sizes(), a);
  const Tensor info = Tensor::allocate(meta::batchSizes(a), ScalarType::Int, a.device());
  if (!a.is_meta()) findEigen(a.device(), "linalg.eigh", values, vectors, info, compute_v, upper);
  checkInfo("linalg.eigh", info, Failure::kNoEigenvalues);
  return {values, compute_v ? vectors : nothing(a)};
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, decomposeQr) { m.impl("linalg_qr", BOXCAR_FN(qr)); }
BOXCAR_NATIVE_KERNELS(aten, m, findSvd, fillIdentity) { m.impl("_linalg_svd", BOXCAR_FN(svd)); }
BOXCAR_NATIVE_KERNELS(aten, m, findEigen) { m.impl("_linalg_eigh", BOXCAR_FN(eigh)); }

}  // namespace boxcar::native
