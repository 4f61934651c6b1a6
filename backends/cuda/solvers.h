#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <complex>
#include <cstdint>
#include <string_view>

namespace boxcar::cuda {

inline constexpr ElementTypes<float, double, std::complex<float>, std::complex<double>> kSolverTypes;

// [count] matrices of [rows] by [columns], both at least 1, stored contiguously one after another in column-major
// order.
struct MatrixBatch {
  std::string_view op;  // that needs the library, for messages
  ScalarType type;      // of kSolverTypes
  int64_t count;
  int64_t rows;
  int64_t columns;
  void* data;
};

// cuSOLVER's and cuBLAS's linear algebra for each matrix of a batch: the LAPACK functions described in cpu/lapack.h,
// with info in device memory. Throw Error that names the operator if the library is missing.
struct SolverFunctions {
  void (*factor_lu)(const MatrixBatch& a, int32_t* pivots, int32_t* info);
  void (*solve_lu)(bool transposed, const MatrixBatch& a, const int32_t* pivots, const MatrixBatch& b);
  void (*factor_cholesky)(bool upper, const MatrixBatch& a, int32_t* info);
  void (*solve_cholesky)(bool upper, const MatrixBatch& a, const MatrixBatch& b);
  void (*solve_triangular)(bool left, bool upper, bool unit, const MatrixBatch& a, const MatrixBatch& b);
  // [tau] has min(rows, columns) elements per matrix.
  void (*factor_qr)(const MatrixBatch& a, void* tau);
  void (*form_q)(const MatrixBatch& a, int64_t reflections, const void* tau);
  void (*find_eigen)(bool vectors, bool upper, const MatrixBatch& a, void* values, int32_t* info);
  // Returns V, whose columns are the singular vectors, not V^H.
  void (*find_svd)(char what, const MatrixBatch& a, void* s, void* u, void* v, int32_t* info);
};

// Writes the products of the LU factors' diagonals, with the pivots' signs, to [result]. If [logarithm] is not null,
// writes a number of magnitude 1 or 0 to [result] and the logarithm of the magnitude to [logarithm]. Boxcar's own
// kernel.
struct DeterminantLaunch {
  const void* factors;
  const int32_t* pivots;
  void* result;
  void* logarithm;
  ScalarType type;
  int64_t count;
  int64_t n;
};
void launchDeterminants(const DeterminantLaunch& launch);

}  // namespace boxcar::cuda
