#include <boxcar/backends/cpu/linalg.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

// QR, singular values and eigenvectors.

namespace boxcar::cpu {
namespace {

void qr(std::string_view op, const Tensor& q, const Tensor& r, const Tensor& matrices, const meta::QrMode& mode) {
  const int64_t m = matrices.sizes().last(2)[0];
  const int64_t n = matrices.sizes().last(2)[1];
  const int64_t k = std::min(m, n);
  const int64_t columns = r.sizes().last(2)[0];  // of Q
  if (columns == 0) return;                      // R may have very many columns without elements
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
      if (!mode.forms_q) return;
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

// Returns the content of the triangle that is read of a Hermitian matrix; only the real parts of its diagonal count.
template <class T>
Content contentOfTriangle(const T* matrix, int64_t n, bool upper) {
  Content found = Content::kFinite;
  for (int64_t j = 0; j < n; ++j) {
    const T* column = matrix + j * n;
    found = std::max(found, contentOf(std::real(column[j])));
    found = upper ? contentOf(column, j, found) : contentOf(column + j + 1, n - j - 1, found);
  }
  return found;
}

int64_t matrixSize(const Tensor& matrices) {
  const auto sizes = matrices.sizes().last(2);
  return sizes[0] * sizes[1];
}

void svd(std::string_view op, char what, const Tensor& matrices, const SvdResult& result) {
  const auto sizes = matrices.sizes().last(2);
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(sizes[0], sizes[1]), [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      auto* const s = vectorAt<RealOf<T>>(result.s, i);
      T* const u = what == 'N' ? nullptr : matrixAt<T>(result.u, i);
      T* const vh = what == 'N' ? nullptr : matrixAt<T>(result.vh, i);
      int32_t& info = result.info.data_ptr<int32_t>()[i];
      switch (contentOf(matrix, sizes[0] * sizes[1])) {
        case Content::kFinite: info = lapack<T>().findSvd(what, sizes[0], sizes[1], matrix, s, u, vh); return;
        case Content::kNan: info = native::kHoldsNan; return;
        case Content::kInfinite: break;
      }
      info = 0;
      fillNan(s, std::min(sizes[0], sizes[1]));
      if (what == 'N') return;
      fillNan(u, matrixSize(result.u));
      fillNan(vh, matrixSize(result.vh));
    });
  });
}

void eigen(std::string_view op, const Tensor& values, const Tensor& matrices, const Tensor& info, bool vectors,
           bool upper) {
  const int64_t n = matrices.sizes().back();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), n, [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      auto* const own_values = vectorAt<RealOf<T>>(values, i);
      int32_t& own_info = info.data_ptr<int32_t>()[i];
      own_info = 0;
      if (n == 0) return;
      if (n == 1) {  // for any value
        own_values[0] = std::real(matrix[0]);
        matrix[0] = 1;
        return;
      }
      switch (contentOfTriangle(matrix, n, upper)) {
        case Content::kFinite: own_info = lapack<T>().findEigen(vectors, upper, n, matrix, own_values); return;
        case Content::kNan: own_info = native::kHoldsNan; return;
        case Content::kInfinite: break;
      }
      fillNan(own_values, n);
      fillNan(matrix, n * n);
    });
  });
}

void generalEigen(std::string_view op, const Tensor& values, const Tensor& vectors, const Tensor& matrices,
                  const Tensor& info) {
  const int64_t n = matrices.sizes().back();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    using Complex = std::complex<RealOf<T>>;
    forEachMatrix(matrixCount(matrices), n, [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      int32_t& own_info = info.data_ptr<int32_t>()[i];
      own_info = 0;
      if (n == 0) return;
      if (contentOf(matrix, n * n) != Content::kFinite) {
        own_info = native::kHoldsNan;
        return;
      }
      own_info = lapack<T>().findGeneralEigen(n, matrix, vectorAt<Complex>(values, i),
                                              vectors.defined() ? matrixAt<Complex>(vectors, i) : nullptr);
    });
  });
}

// Factors of Q as they are.

void qrFactors(std::string_view op, const Tensor& matrices, const Tensor& tau) {
  const auto sizes = matrices.sizes().last(2);
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(sizes[0], sizes[1]), [&](int64_t i) {
      const int info = lapack<T>().factorQr(sizes[0], sizes[1], matrixAt<T>(matrices, i), vectorAt<T>(tau, i));
      BOXCAR_CHECK(info == 0, "{}: the factorization failed (error code: {})", op, info);
    });
  });
}

void columnsOfQ(std::string_view op, const Tensor& matrices, const Tensor& tau) {
  const auto sizes = matrices.sizes().last(2);
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), sizes[0], [&](int64_t i) {
      const int info =
          lapack<T>().formQ(sizes[0], sizes[1], tau.sizes().back(), matrixAt<T>(matrices, i), vectorAt<T>(tau, i));
      BOXCAR_CHECK(info == 0, "{}: the factor Q could not be formed (error code: {})", op, info);
    });
  });
}

void productWithQ(std::string_view op, const Tensor& matrices, const Tensor& reflections, const Tensor& tau, bool left,
                  bool adjoint) {
  const auto sizes = matrices.sizes().last(2);
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(sizes[0], sizes[1]), [&](int64_t i) {
      const int info = lapack<T>().applyQ(left, adjoint, sizes[0], sizes[1], tau.sizes().back(),
                                          matrixAt<T>(reflections, i), vectorAt<T>(tau, i), matrixAt<T>(matrices, i));
      BOXCAR_CHECK(info == 0, "{}: the product failed (error code: {})", op, info);
    });
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, decomposeQr, cpu::qr)
BOXCAR_REGISTER_STUB(CPU, findSvd, cpu::svd)
BOXCAR_REGISTER_STUB(CPU, findEigen, cpu::eigen)
BOXCAR_REGISTER_STUB(CPU, findGeneralEigen, cpu::generalEigen)
BOXCAR_REGISTER_STUB(CPU, factorQr, cpu::qrFactors)
BOXCAR_REGISTER_STUB(CPU, formQ, cpu::columnsOfQ)
BOXCAR_REGISTER_STUB(CPU, applyQ, cpu::productWithQ)

}  // namespace boxcar::native
