#include <boxcar/backends/cpu/linalg.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <vector>

// QR, singular values and eigenvectors.

namespace boxcar::cpu {
namespace {

void qr(std::string_view op, const Tensor& q, const Tensor& r, const Tensor& matrices, const shape::QrMode& mode) {
  const int64_t m = matrices.sizes().last(2)[0];
  const int64_t n = matrices.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const int64_t columns = r.sizes().last(2)[0];  // of Q
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(m, n), [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      std::vector<T> tau(static_cast<size_t>(k));
      if (k > 0) {
        const int info = lapack<T>().factorQr(m, n, matrix, tau.data());
        BOXCAR_CHECK(info == 0, "{}: the factorization failed (error code: {})", op, info);
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
      BOXCAR_CHECK(info == 0, "{}: the factor Q could not be formed (error code: {})", op, info);
    });
  });
}

void svd(std::string_view op, char what, const Tensor& matrices, const SvdResult& result) {
  const auto sizes = matrices.sizes().last(2);
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(sizes[0], sizes[1]), [&](int64_t i) {
      result.info.data_ptr<int32_t>()[i] = lapack<T>().findSvd(
          what, sizes[0], sizes[1], matrixAt<T>(matrices, i), vectorAt<RealOf<T>>(result.s, i),
          what == 'N' ? nullptr : matrixAt<T>(result.u, i), what == 'N' ? nullptr : matrixAt<T>(result.vh, i));
    });
  });
}

void eigen(std::string_view op, const Tensor& values, const Tensor& matrices, const Tensor& info, bool vectors,
           bool upper) {
  const int64_t n = matrices.sizes().back();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), n, [&](int64_t i) {
      info.data_ptr<int32_t>()[i] =
          n == 0 ? 0
                 : lapack<T>().findEigen(vectors, upper, n, matrixAt<T>(matrices, i), vectorAt<RealOf<T>>(values, i));
    });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::dense {

constinit DeviceFunction<DecomposeQr> decomposeQr("linalg.qr", cpu::qr);
constinit DeviceFunction<FindSvd> findSvd("linalg.svd", cpu::svd);
constinit DeviceFunction<FindEigen> findEigen("linalg.eigh", cpu::eigen);

}  // namespace boxcar::dense
