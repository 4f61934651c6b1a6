#include <boxcar/backends/cpu/linalg.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/shape/broadcast.h>

#include <algorithm>
#include <cmath>
#include <tuple>

// LU and Cholesky factors, and what is solved by them.

namespace boxcar::cpu {
namespace {

// LU factors of square matrices, or of their transposes where these lie in memory as the library reads them.
struct Lu {
  Tensor factors;
  Tensor pivots;
  Tensor info;
  bool transposed;
};

Lu factorLu(const Tensor& a) {
  const Device device = a.device();
  const bool transposed = a.is_contiguous() && !a.is_complex();
  const auto rank = static_cast<size_t>(a.dim());
  Lu lu{allocateMatrices(a.sizes(), a.scalar_type(), device),
        Tensor::allocate(shape::withoutLast(a), ScalarType::Int, device),
        Tensor::allocate(shape::batchSizes(a), ScalarType::Int, device), transposed};
  if (a.is_meta()) return lu;
  DimVector strides = toDimVector(lu.factors.strides());
  if (transposed) std::swap(strides[rank - 1], strides[rank - 2]);
  copyElements(lu.factors.view(a.sizes(), strides, 0), a);
  const int64_t n = a.sizes().back();
  int32_t* info = lu.info.data_ptr<int32_t>();
  visitScalarType(kLinalgTypes, a.scalar_type(), "lu", [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), n, [&](int64_t i) {
      info[i] = n == 0 ? 0 : lapack<T>().factorLu(n, n, matrixAt<T>(lu.factors, i), vectorAt<int32_t>(lu.pivots, i));
    });
  });
  return lu;
}

// Writes a^-1 b to [b], a batch of column-major matrices for as many factors; a^-T b when [transposed].
void solveInto(const Tensor& b, const Lu& lu, bool transposed) {
  if (b.is_meta() || b.numel() == 0) return;
  const int64_t n = lu.factors.sizes().back();
  const int64_t columns = b.numel() / std::max<int64_t>(matrixCount(lu.factors) * n, 1);
  visitScalarType(kLinalgTypes, b.scalar_type(), "lu_solve", [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(lu.factors), n, [&](int64_t i) {
      lapack<T>().solveLu(transposed, n, columns, matrixAt<T>(lu.factors, i), vectorAt<int32_t>(lu.pivots, i),
                          static_cast<T*>(b.data_ptr()) + i * n * columns);
    });
  });
}

// The factors repeated for each matrix of a larger batch.
Lu expanded(const Lu& lu, std::span<const int64_t> sizes) {
  if (std::ranges::equal(lu.factors.sizes(), sizes)) return lu;
  return {copyMatrices(sizes, lu.factors), toContiguous(shape::expandTo(lu.pivots, sizes.first(sizes.size() - 1))),
          lu.info, lu.transposed};
}

std::tuple<Tensor, Tensor> invEx(const Tensor& a, bool check_errors) {
  checkCpuOrMeta(a);
  shape::checkSquareMatrices("linalg.inv", a);
  const Lu lu = factorLu(a);
  const Tensor inverse = allocateMatrices(a.sizes(), a.scalar_type(), a.device());
  const int64_t n = a.sizes().back();
  if (!a.is_meta()) {
    visitScalarType(kLinalgTypes, a.scalar_type(), "linalg.inv", [&]<class T>(std::type_identity<T>) {
      T* elements = inverse.data_ptr<T>();
      std::fill_n(elements, inverse.numel(), T(0));
      for (int64_t i = 0; i < matrixCount(a) * n; ++i) elements[i * n + i % n] = 1;
    });
  }
  solveInto(inverse, lu, lu.transposed);
  if (check_errors) checkInfo("linalg.inv", lu.info, Failure::kNotInvertible);
  return {inverse, lu.info};
}

// [b] as a matrix of one column for each of a batch.
Tensor withColumn(const Tensor& b) {
  DimVector sizes = toDimVector(b.sizes());
  DimVector strides = toDimVector(b.strides());
  sizes.push_back(1);
  strides.push_back(1);
  return b.view(sizes, strides, b.storage_offset());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solveEx(const Tensor& a, const Tensor& b, bool left, bool check_errors) {
  const Device device = commonDevice({&a, &b});
  shape::checkSquareMatrices("linalg.solve", a);
  BOXCAR_CHECK(b.dim() > 0, "linalg.solve: The input tensor B must have at least 1 dimension, but it has none.");
  const bool vectors = shape::holdsVectors(a, b);
  const Tensor matrices = vectors ? withColumn(b) : b;
  const shape::Equation equation = shape::checkEquation("linalg.solve", a, matrices, left);
  const Lu lu = factorLu(a);

  // X A = B is A^T X^T = B^T, and a row-major X is a column-major X^T.
  const Tensor x =
      left ? copyMatrices(equation.b_sizes, matrices) : Tensor::allocate(equation.b_sizes, b.scalar_type(), device);
  if (!left) copyElements(x, shape::expandTo(matrices, equation.b_sizes));
  solveInto(x, expanded(lu, equation.a_sizes), lu.transposed == left);
  if (check_errors) checkInfo("linalg.solve", lu.info, Failure::kSingular);
  if (!vectors) return {x, lu.factors, lu.pivots, lu.info};

  const auto sizes = std::span<const int64_t>(equation.b_sizes).first(equation.b_sizes.size() - 1);
  // Vectors get the strides that PyTorch gives them: those of matrices, where there are several.
  const Tensor result = sizes.size() > 1 && left ? allocateMatrices(sizes, x.scalar_type(), device)
                                                 : Tensor::allocate(sizes, x.scalar_type(), device);
  copyElements(result, x.view(sizes, x.strides().first(sizes.size()), 0));
  return {result, lu.factors, lu.pivots, lu.info};
}

// 1, or -1 when the pivots swap an odd number of rows.
int signOfPivots(const int32_t* pivots, int64_t n) {
  int sign = 1;
  for (int64_t i = 0; i < n; ++i) sign = pivots[i] == i + 1 ? sign : -sign;
  return sign;
}

std::tuple<Tensor, Tensor, Tensor> det(const Tensor& a) {
  checkCpuOrMeta(a);
  shape::checkSquareMatrices("linalg.det", a);
  const Lu lu = factorLu(a);
  const Tensor result = Tensor::allocate(shape::batchSizes(a), a.scalar_type(), a.device());
  if (!a.is_meta()) {
    const int64_t n = a.sizes().back();
    visitScalarType(kLinalgTypes, a.scalar_type(), "linalg.det", [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < result.numel(); ++i) {
        const T* factors = matrixAt<T>(lu.factors, i);
        T product = static_cast<RealOf<T>>(signOfPivots(vectorAt<int32_t>(lu.pivots, i), n));
        for (int64_t j = 0; j < n; ++j) product *= factors[j + j * n];
        result.data_ptr<T>()[i] = product;
      }
    });
  }
  return {result, lu.factors, lu.pivots};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet(const Tensor& a) {
  checkCpuOrMeta(a);
  shape::checkSquareMatrices("linalg.slogdet", a);
  const Lu lu = factorLu(a);
  const Tensor sign = Tensor::allocate(shape::batchSizes(a), a.scalar_type(), a.device());
  const Tensor logarithm = Tensor::allocate(shape::batchSizes(a), shape::realType(a.scalar_type()), a.device());
  if (!a.is_meta()) {
    const int64_t n = a.sizes().back();
    visitScalarType(kLinalgTypes, a.scalar_type(), "linalg.slogdet", [&]<class T>(std::type_identity<T>) {
      using Real = RealOf<T>;
      for (int64_t i = 0; i < sign.numel(); ++i) {
        const T* factors = matrixAt<T>(lu.factors, i);
        T product = static_cast<Real>(signOfPivots(vectorAt<int32_t>(lu.pivots, i), n));
        Real sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const T pivot = factors[j + j * n];
          const Real size = std::abs(pivot);
          product *= size == 0 ? T(0) : pivot / size;
          sum += std::log(size);
        }
        sign.data_ptr<T>()[i] = product;
        logarithm.data_ptr<Real>()[i] = sum;
      }
    });
  }
  return {sign, logarithm, lu.factors, lu.pivots};
}

// The factor with zeros in the other triangle.
std::tuple<Tensor, Tensor> factorCholesky(std::string_view name, const Tensor& a, bool upper) {
  checkCpuOrMeta(a);
  shape::checkSquareMatrices(name, a);
  const Tensor factor = copyMatrices(a.sizes(), a);
  const Tensor info = Tensor::allocate(shape::batchSizes(a), ScalarType::Int, a.device());
  if (a.is_meta()) return {factor, info};
  const int64_t n = a.sizes().back();
  int32_t* infos = info.data_ptr<int32_t>();
  visitScalarType(kLinalgTypes, a.scalar_type(), name, [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), n, [&](int64_t i) {
      T* matrix = matrixAt<T>(factor, i);
      infos[i] = n == 0 ? 0 : lapack<T>().factorCholesky(upper, n, matrix);
      for (int64_t j = 0; j < n; ++j) {
        T* column = matrix + j * n;
        upper ? std::fill(column + j + 1, column + n, T(0)) : std::fill(column, column + j, T(0));
      }
    });
  });
  return {factor, info};
}

std::tuple<Tensor, Tensor> choleskyEx(const Tensor& self, bool upper, bool check_errors) {
  auto [factor, info] = factorCholesky("linalg.cholesky", self, upper);
  if (check_errors) checkInfo("linalg.cholesky", info, Failure::kNotPositive);
  return {std::move(factor), std::move(info)};
}

Tensor cholesky(const Tensor& self, bool upper) {
  auto [factor, info] = factorCholesky("cholesky", self, upper);
  checkInfo("cholesky", info, Failure::kNotPositive);
  return factor;
}

Tensor choleskySolve(const Tensor& b, const Tensor& factor, bool upper) {
  commonDevice({&b, &factor});
  const shape::Equation equation = shape::checkEquation("cholesky_solve", factor, b, /*left=*/true);
  const Tensor a = copyMatrices(equation.a_sizes, factor);
  const Tensor x = copyMatrices(equation.b_sizes, b);
  if (x.is_meta() || x.numel() == 0) return x;
  const auto sizes = x.sizes().last(2);
  visitScalarType(kLinalgTypes, b.scalar_type(), "cholesky_solve", [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), sizes[0], [&](int64_t i) {
      lapack<T>().solveCholesky(upper, sizes[0], sizes[1], matrixAt<T>(a, i), matrixAt<T>(x, i));
    });
  });
  return x;
}

Tensor solveTriangular(const Tensor& self, const Tensor& b, bool upper, bool left, bool unitriangular) {
  commonDevice({&self, &b});
  const shape::Equation equation = shape::checkEquation("linalg.solve_triangular", self, b, left);
  const Tensor a = copyMatrices(equation.a_sizes, self);
  const Tensor x = copyMatrices(equation.b_sizes, b);
  if (x.is_meta() || x.numel() == 0) return x;
  const auto sizes = x.sizes().last(2);
  visitScalarType(kLinalgTypes, b.scalar_type(), "linalg.solve_triangular", [&]<class T>(std::type_identity<T>) {
    forEachMatrix(matrixCount(a), a.sizes().back(), [&](int64_t i) {
      lapack<T>().solveTriangular(left, upper, unitriangular, sizes[0], sizes[1], matrixAt<T>(a, i), matrixAt<T>(x, i));
    });
  });
  return x;
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("linalg_inv_ex", BOXCAR_FN(invEx));
  m.impl("_linalg_solve_ex", BOXCAR_FN(solveEx));
  m.impl("_linalg_det", BOXCAR_FN(det));
  m.impl("_linalg_slogdet", BOXCAR_FN(slogdet));
  m.impl("linalg_cholesky_ex", BOXCAR_FN(choleskyEx));
  m.impl("cholesky", BOXCAR_FN(cholesky));
  m.impl("cholesky_solve", BOXCAR_FN(choleskySolve));
  m.impl("linalg_solve_triangular", BOXCAR_FN(solveTriangular));
}

}  // namespace boxcar::cpu
