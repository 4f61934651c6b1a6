#include <boxcar/backends/cpu/linalg.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

// QR, singular values and eigenvectors.

namespace boxcar::cpu {
namespace {

Tensor nothing(const Tensor& like) {
  constexpr int64_t kNone[] = {0};
  return Tensor::allocate(kNone, like.scalar_type(), like.device());
}

std::tuple<Tensor, Tensor> qr(const Tensor& a, std::string_view mode_name) {
  checkCpuOrMeta(a);
  shape::checkMatrices("linalg.qr", a);
  const shape::QrMode mode = shape::qrMode(mode_name);
  const auto batch = shape::batchSizes(a);
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = a.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const int64_t columns = mode.reduced ? k : m;  // of Q, and rows of R
  const ScalarType type = a.scalar_type();
  const Tensor q =
      mode.forms_q ? allocateMatrices(shape::matrixSizes(batch, m, columns), type, a.device()) : nothing(a);
  const Tensor r = allocateMatrices(shape::matrixSizes(batch, columns, n), type, a.device());
  const Tensor factors = copyMatrices(a.sizes(), a);
  if (a.is_meta()) return {q, r};
  visitScalarType(kLinalgTypes, type, "linalg.qr", [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), std::max(m, n), [&](int64_t i) {
      T* matrix = matrixAt<T>(factors, i);
      std::vector<T> tau(static_cast<size_t>(k));
      if (k > 0) {
        const int info = lapack<T>().factorQr(m, n, matrix, tau.data());
        BOXCAR_CHECK(info == 0, "linalg.qr: the factorization failed (error code: {})", info);
      }
      T* triangle = matrixAt<T>(r, i);
      for (int64_t j = 0; j < n; ++j, triangle += columns) {
        const int64_t count = std::min(j + 1, columns);
        std::copy_n(matrix + j * m, std::min(count, m), triangle);
        std::fill(triangle + count, triangle + columns, T(0));
      }
      if (!mode.forms_q || columns == 0) return;
      T* basis = matrixAt<T>(q, i);
      std::copy_n(matrix, m * k, basis);
      if (k == 0) {
        std::fill_n(basis, m * columns, T(0));
        for (int64_t j = 0; j < columns; ++j) basis[j + j * m] = 1;
        return;
      }
      const int info = lapack<T>().formQ(m, columns, k, basis, tau.data());
      BOXCAR_CHECK(info == 0, "linalg.qr: the factor Q could not be formed (error code: {})", info);
    });
  });
  return {q, r};
}

template <class T>
void fillIdentity(const Tensor& matrices) {
  const int64_t n = matrices.sizes().back();
  T* elements = matrices.data_ptr<T>();
  std::fill_n(elements, matrices.numel(), T(0));
  for (int64_t i = 0; i < matrixCount(matrices) * n; ++i) elements[i * n + i % n] = 1;
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& a, bool full_matrices, bool compute_uv,
                                       std::optional<std::string_view> driver) {
  checkCpuOrMeta(a);
  shape::checkMatrices("linalg.svd", a);
  BOXCAR_CHECK(!driver.has_value() || !a.is_cpu(),
               "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs, but it is '{}'",
               driver.value_or(""));
  const auto batch = shape::batchSizes(a);
  const int64_t m = a.sizes().last(2)[0];
  const int64_t n = a.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const ScalarType type = a.scalar_type();
  const Device device = a.device();
  DimVector values_sizes = toDimVector(batch);
  values_sizes.push_back(k);
  const Tensor u =
      compute_uv ? allocateMatrices(shape::matrixSizes(batch, m, full_matrices ? m : k), type, device) : nothing(a);
  const Tensor s = Tensor::allocate(values_sizes, shape::realType(type), device);
  const Tensor vh =
      compute_uv ? allocateMatrices(shape::matrixSizes(batch, full_matrices ? n : k, n), type, device) : nothing(a);
  const Tensor factors = copyMatrices(a.sizes(), a);
  const Tensor info = Tensor::allocate(batch, ScalarType::Int, device);
  if (a.is_meta()) return {u, s, vh};
  visitScalarType(kLinalgTypes, type, "linalg.svd", [&]<class T>(std::type_identity<T>) {
    if (k == 0) {
      if (compute_uv && full_matrices) {
        fillIdentity<T>(u);
        fillIdentity<T>(vh);
      }
      std::fill_n(info.data_ptr<int32_t>(), info.numel(), 0);
      return;
    }
    forEachMatrix(matrixCount(a), std::max(m, n), [&](int64_t i) {
      const char what = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
      info.data_ptr<int32_t>()[i] =
          lapack<T>().findSvd(what, m, n, matrixAt<T>(factors, i), vectorAt<RealOf<T>>(s, i),
                              compute_uv ? matrixAt<T>(u, i) : nullptr, compute_uv ? matrixAt<T>(vh, i) : nullptr);
    });
  });
  checkInfo("linalg.svd", info, Failure::kNoSingularValues);
  return {u, s, vh};
}

std::tuple<Tensor, Tensor> eigh(const Tensor& a, std::string_view uplo, bool compute_v) {
  checkCpuOrMeta(a);
  shape::checkSquareMatrices("linalg.eigh", a);
  const bool upper = shape::isUpperTriangle(uplo);
  const ScalarType type = a.scalar_type();
  const Tensor values = Tensor::allocate(shape::withoutLast(a), shape::realType(type), a.device());
  const Tensor vectors = copyMatrices(a.sizes(), a);
  const Tensor info = Tensor::allocate(shape::batchSizes(a), ScalarType::Int, a.device());
  const int64_t n = a.sizes().back();
  if (!a.is_meta()) {
    visitScalarType(kLinalgTypes, type, "linalg.eigh", [&]<class T>(std::type_identity<T>) {
      forEachMatrix(matrixCount(a), n, [&](int64_t i) {
        info.data_ptr<int32_t>()[i] = n == 0 ? 0
                                             : lapack<T>().findEigen(compute_v, upper, n, matrixAt<T>(vectors, i),
                                                                     vectorAt<RealOf<T>>(values, i));
      });
    });
  }
  checkInfo("linalg.eigh", info, Failure::kNoEigenvalues);
  return {values, compute_v ? vectors : nothing(a)};
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("linalg_qr", BOXCAR_FN(qr));
  m.impl("_linalg_svd", BOXCAR_FN(svd));
  m.impl("_linalg_eigh", BOXCAR_FN(eigh));
}

}  // namespace boxcar::cpu
