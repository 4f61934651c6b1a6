#include <boxcar/backends/cpu/linalg.h>
#include <boxcar/backends/cpu/names.h>

#include <algorithm>
#include <cmath>

// LU, Cholesky and LDL factors, solving with them, and least squares.

namespace boxcar::cpu {
namespace {

void luFactors(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info) {
  const int64_t m = matrices.sizes().last(2)[0];
  const int64_t n = matrices.sizes().last(2)[1];
  int32_t* infos = info.data_ptr<int32_t>();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), std::max(m, n), [&](int64_t i) {
      infos[i] = 0;
      if (m == 0 || n == 0) return;
      infos[i] = lapack<T>().factorLu(m, n, matrixAt<T>(matrices, i), vectorAt<int32_t>(pivots, i));
    });
  });
}

void luSolution(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots, int64_t columns,
                bool transposed) {
  const int64_t n = factors.sizes().back();
  visitScalarType(kLinalgTypes, b.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(factors), n, [&](int64_t i) {
      lapack<T>().solveLu(transposed, n, columns, matrixAt<T>(factors, i), vectorAt<int32_t>(pivots, i),
                          static_cast<T*>(b.data_ptr()) + i * n * columns);
    });
  });
}

// Returns 1, or -1 if the pivots swap an odd number of rows.
int signOfPivots(const int32_t* pivots, int64_t n) {
  int sign = 1;
  for (int64_t i = 0; i < n; ++i) sign = pivots[i] == i + 1 ? sign : -sign;
  return sign;
}

void pivotProducts(const Tensor& result, const Tensor& factors, const Tensor& pivots) {
  const int64_t n = factors.sizes().back();
  visitScalarType(kLinalgTypes, result.scalar_type(), "linalg.det", [&]<class T>(std::type_identity<T>) {
    for (int64_t i = 0; i < result.numel(); ++i) {
      const T* matrix = matrixAt<T>(factors, i);
      T product = static_cast<RealOf<T>>(signOfPivots(vectorAt<int32_t>(pivots, i), n));
      for (int64_t j = 0; j < n; ++j) product *= matrix[j + j * n];
      result.data_ptr<T>()[i] = product;
    }
  });
}

void pivotLogarithms(const Tensor& sign, const Tensor& logarithm, const Tensor& factors, const Tensor& pivots) {
  const int64_t n = factors.sizes().back();
  visitScalarType(kLinalgTypes, sign.scalar_type(), "linalg.slogdet", [&]<class T>(std::type_identity<T>) {
    using Real = RealOf<T>;
    for (int64_t i = 0; i < sign.numel(); ++i) {
      const T* matrix = matrixAt<T>(factors, i);
      T product = static_cast<Real>(signOfPivots(vectorAt<int32_t>(pivots, i), n));
      Real sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const T pivot = matrix[j + j * n];
        const Real size = std::abs(pivot);
        product *= size == 0 ? T(0) : pivot / size;
        sum += std::log(size);
      }
      sign.data_ptr<T>()[i] = product;
      logarithm.data_ptr<Real>()[i] = sum;
    }
  });
}

void choleskyFactors(std::string_view op, const Tensor& matrices, const Tensor& info, bool upper) {
  const int64_t n = matrices.sizes().back();
  int32_t* infos = info.data_ptr<int32_t>();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), n, [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      infos[i] = n == 0 ? 0 : lapack<T>().factorCholesky(upper, n, matrix);
      // OpenBLAS does not stop at a NaN.
      for (int64_t j = 0; j < n && infos[i] == 0; ++j) {
        if (!(std::real(matrix[j + j * n]) > 0)) infos[i] = static_cast<int32_t>(j + 1);
      }
      clearTriangle(!upper, n, matrix);
    });
  });
}

void choleskySolution(std::string_view op, const Tensor& b, const Tensor& factors, bool upper) {
  const auto sizes = b.sizes().last(2);
  visitScalarType(kLinalgTypes, b.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(factors), sizes[0], [&](int64_t i) {
      lapack<T>().solveCholesky(upper, sizes[0], sizes[1], matrixAt<T>(factors, i), matrixAt<T>(b, i));
    });
  });
}

void ldlFactors(std::string_view op, const Tensor& matrices, const Tensor& pivots, const Tensor& info, bool hermitian) {
  const int64_t n = matrices.sizes().back();
  int32_t* infos = info.data_ptr<int32_t>();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(matrices), n, [&](int64_t i) {
      T* matrix = matrixAt<T>(matrices, i);
      infos[i] = n == 0 ? 0 : lapack<T>().factorLdl(hermitian, n, matrix, vectorAt<int32_t>(pivots, i));
      clearTriangle(/*above=*/true, n, matrix);
    });
  });
}

void ldlSolution(std::string_view op, const Tensor& b, const Tensor& factors, const Tensor& pivots, bool hermitian) {
  const auto sizes = b.sizes().last(2);
  visitScalarType(kLinalgTypes, b.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(factors), sizes[0], [&](int64_t i) {
      lapack<T>().solveLdl(hermitian, sizes[0], sizes[1], matrixAt<T>(factors, i), vectorAt<int32_t>(pivots, i),
                           matrixAt<T>(b, i));
    });
  });
}

void leastSquares(std::string_view op, native::LeastSquares method, double rcond, const Tensor& a,
                  const native::LeastSquaresResult& result) {
  const auto sizes = a.sizes().last(2);
  const auto b_sizes = result.b.sizes().last(2);
  visitScalarType(kLinalgTypes, a.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    using Real = RealOf<T>;
    forEachMatrix(matrixCount(a), std::max(sizes[0], sizes[1]), [&](int64_t i) {
      T* matrix = matrixAt<T>(a, i);
      T* b = matrixAt<T>(result.b, i);
      int32_t& info = result.info.data_ptr<int32_t>()[i];
      // The last rows of b are memory for a wide matrix only.
      Content content = Content::kFinite;
      for (int64_t j = 0; j < b_sizes[1]; ++j) content = contentOf(b + j * b_sizes[0], sizes[0], content);
      info = native::kHoldsNan;
      if (content == Content::kNan || contentOf(matrix, sizes[0] * sizes[1]) != Content::kFinite) return;
      // An infinite b has no solution, but the matrix has a rank.
      if (content == Content::kInfinite) std::fill_n(b, b_sizes[0] * b_sizes[1], T(0));
      info = lapack<T>().solveLeastSquares(method, sizes[0], sizes[1], b_sizes[1], static_cast<Real>(rcond), matrix, b,
                                           vectorAt<Real>(result.s, i), result.rank.data_ptr<int64_t>() + i);
      if (content == Content::kInfinite) fillNan(b, b_sizes[0] * b_sizes[1]);
    });
  });
}

void triangularSolution(std::string_view op, const Tensor& b, const Tensor& a, bool left, bool upper, bool unit) {
  const auto sizes = b.sizes().last(2);
  visitScalarType(kLinalgTypes, b.scalar_type(), op, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), a.sizes().back(), [&](int64_t i) {
      lapack<T>().solveTriangular(left, upper, unit, sizes[0], sizes[1], matrixAt<T>(a, i), matrixAt<T>(b, i));
    });
  });
}

void identity(const Tensor& matrices) {
  const int64_t n = matrices.sizes().back();
  visitScalarType(kLinalgTypes, matrices.scalar_type(), "eye", [&]<class T>(std::type_identity<T>) {
    T* elements = matrices.data_ptr<T>();
    std::fill_n(elements, matrices.numel(), T(0));
    for (int64_t i = 0; i < matrixCount(matrices) * n; ++i) elements[i * n + i % n] = 1;
  });
}

}  // namespace
}  // namespace boxcar::cpu

namespace boxcar::native {

BOXCAR_REGISTER_STUB(CPU, factorLu, cpu::luFactors)
BOXCAR_REGISTER_STUB(CPU, solveLu, cpu::luSolution)
BOXCAR_REGISTER_STUB(CPU, multiplyPivots, cpu::pivotProducts)
BOXCAR_REGISTER_STUB(CPU, addPivotLogarithms, cpu::pivotLogarithms)
BOXCAR_REGISTER_STUB(CPU, factorCholesky, cpu::choleskyFactors)
BOXCAR_REGISTER_STUB(CPU, solveCholesky, cpu::choleskySolution)
BOXCAR_REGISTER_STUB(CPU, factorLdl, cpu::ldlFactors)
BOXCAR_REGISTER_STUB(CPU, solveLdl, cpu::ldlSolution)
BOXCAR_REGISTER_STUB(CPU, solveLeastSquares, cpu::leastSquares)
BOXCAR_REGISTER_STUB(CPU, solveTriangular, cpu::triangularSolution)
BOXCAR_REGISTER_STUB(CPU, fillIdentity, cpu::identity)

}  // namespace boxcar::native
