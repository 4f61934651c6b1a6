#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/linalg.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

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

// Returns the eigenvalues, and the eigenvectors if [vectors].
std::tuple<Tensor, Tensor> generalEigen(const Tensor& a, bool vectors) {
  checkDense(a);
  meta::checkSquareMatrices("linalg.eig", a);
  const ScalarType type = toComplexType(a.scalar_type());
  const Tensor values = Tensor::allocate(meta::withoutLast(a), type, a.device());
  const Tensor found = vectors ? allocateMatrices(a.sizes(), type, a.device()) : Tensor();
  if (a.is_meta()) return {values, found};
  const Tensor info = Tensor::allocate(meta::batchSizes(a), ScalarType::Int, a.device());
  findGeneralEigen(a.device(), "linalg.eig", values, found, copyMatrices(a.sizes(), a), info);
  checkInfo("linalg.eig", info, Failure::kNoEigenvalues);
  return {values, found};
}
std::tuple<Tensor, Tensor> eig(const Tensor& self) { return generalEigen(self, /*vectors=*/true); }
Tensor eigvals(const Tensor& self) { return std::get<0>(generalEigen(self, /*vectors=*/false)); }

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  checkDense(self);
  meta::checkMatrices("geqrf", self, "input");
  const auto size = self.sizes().last(2);
  DimVector tau_sizes = toDimVector(meta::withoutLast(self));
  tau_sizes.back() = std::min(size[0], size[1]);
  const Tensor factors = copyMatrices(self.sizes(), self);
  const Tensor tau = Tensor::allocate(tau_sizes, self.scalar_type(), self.device());
  if (!self.is_meta() && tau.numel() > 0) factorQr(self.device(), "geqrf", factors, tau);
  return {factors, tau};
}

// Throws Error unless [tau] are the factors of as many reflections as it has elements, in columns of [reflections].
void checkReflections(std::string_view op, const Tensor& reflections, const Tensor& tau) {
  meta::checkMatrices(op, reflections, "input");
  BOXCAR_CHECK(tau.scalar_type() == reflections.scalar_type(), "{}: tau dtype {} does not match input dtype {}", op,
               tau.scalar_type(), reflections.scalar_type());
  const bool fits = tau.dim() == reflections.dim() - 1 &&
                    std::ranges::equal(tau.sizes().first(tau.sizes().size() - 1), meta::batchSizes(reflections));
  BOXCAR_CHECK(fits,
               "{}: Expected tau to have the sizes of input without its last two, and one more, but got [{}] for [{}]",
               op, fmt::join(tau.sizes(), ", "), fmt::join(reflections.sizes(), ", "));
  BOXCAR_CHECK(reflections.sizes().back() >= tau.sizes().back(),
               "{}: input must have a column for each of the {} elements of tau, but it has {}", op, tau.sizes().back(),
               reflections.sizes().back());
}

Tensor householderProduct(const Tensor& input, const Tensor& tau) {
  constexpr std::string_view kName = "linalg.householder_product";
  commonDevice({&input, &tau});
  checkReflections(kName, input, tau);
  const auto size = input.sizes().last(2);
  BOXCAR_CHECK(size[0] >= size[1], "{}: input must have at least as many rows as columns, but it is {} by {}", kName,
               size[0], size[1]);
  const Tensor q = copyMatrices(input.sizes(), input);
  if (!q.is_meta() && q.numel() > 0) formQ(q.device(), kName, q, toContiguous(tau));
  return q;
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  constexpr std::string_view kName = "ormqr";
  commonDevice({&self, &tau, &other});
  checkReflections(kName, self, tau);
  meta::checkMatrices(kName, other, "other");
  BOXCAR_CHECK(other.scalar_type() == self.scalar_type(),
               "{}: Expected input and other to have the same dtype, but input is {} and other is {}", kName,
               self.scalar_type(), other.scalar_type());
  BOXCAR_CHECK(std::ranges::equal(meta::batchSizes(other), meta::batchSizes(self)),
               "{}: Expected other to have the batch sizes of input, [{}], but got [{}]", kName,
               fmt::join(meta::batchSizes(self), ", "), fmt::join(meta::batchSizes(other), ", "));
  const auto size = self.sizes().last(2);
  const int64_t order = other.sizes().last(2)[left ? 0 : 1];
  BOXCAR_CHECK(order == size[0], "{}: Q has {} rows, as input, and other must have as many {}, but it has {}", kName,
               size[0], left ? "rows" : "columns", order);
  const int64_t count = tau.sizes().back();
  BOXCAR_CHECK(count == std::min(order, size[1]),
               "{}: tau must have {} elements, one for each reflection, but it has {}", kName, std::min(order, size[1]),
               count);
  const Tensor result = copyMatrices(other.sizes(), other);
  if (result.is_meta() || result.numel() == 0 || count == 0) return result;
  const Tensor columns = boxcar::narrow(self, -1, 0, count);
  applyQ(result.device(), kName, result, copyMatrices(columns.sizes(), columns), toContiguous(tau), left, transpose);
  return result;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, findGeneralEigen) {
  m.impl("linalg_eig", BOXCAR_FN(eig));
  m.impl("_linalg_eigvals", BOXCAR_FN(eigvals));
}
BOXCAR_NATIVE_KERNELS(aten, m, factorQr) { m.impl("geqrf", BOXCAR_FN(geqrf)); }
BOXCAR_NATIVE_KERNELS(aten, m, formQ) { m.impl("linalg_householder_product", BOXCAR_FN(householderProduct)); }
BOXCAR_NATIVE_KERNELS(aten, m, applyQ) { m.impl("ormqr", BOXCAR_FN(ormqr)); }
BOXCAR_NATIVE_KERNELS(aten, m, decomposeQr) { m.impl("linalg_qr", BOXCAR_FN(qr)); }
BOXCAR_NATIVE_KERNELS(aten, m, findSvd, fillIdentity) { m.impl("_linalg_svd", BOXCAR_FN(svd)); }
BOXCAR_NATIVE_KERNELS(aten, m, findEigen) { m.impl("_linalg_eigh", BOXCAR_FN(eigh)); }

}  // namespace boxcar::native
