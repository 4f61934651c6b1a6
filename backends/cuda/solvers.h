#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <complex>
#include <cstdint>
#include <string_view>

namespace boxcar::cuda {

inline constexpr ElementTypes<float, double, std::complex<float>, std::complex<double>> kSolverTypes;

// [count] matrices of [rows] by [columns], both 1 or more, one behind the other and column-major without gaps.
struct MatrixBatch {
  std::string_view op;  // that wants the library, in messages
  ScalarType type;      // of kSolverTypes
  int64_t count;
  int64_t rows;
  int64_t columns;
  void* data;
};

// What cuSOLVER and cuBLAS do for linear algebra, for each of a batch in turn: LAPACK's functions, as cpu/lapack.h
// describes them, with their infos in the device's memory. Errors that name the operator when the library is not there.
struct SolverFunctions {
  void (*factor_lu)(const MatrixBatch& a, int32_t* pivots, int32_t* info);
  void (*solve_lu)(bool transposed, const MatrixBatch& a, const int32_t* pivots, const MatrixBatch& b);
  void (*factor_cholesky)(bool upper, const MatrixBatch& a, int32_t* info);
  void (*solve_cholesky)(bool upper, const MatrixBatch& a, const MatrixBatch& b);
  void (*solve_triangular)(bool left, bool upper, bool unit, const MatrixBatch& a, const MatrixBatch& b);
  // [tau] has min(rows, columns) elements for each matrix.
  void (*factor_qr)(const MatrixBatch& a, void* tau);
  void (*form_q)(const MatrixBatch& a, int64_t reflections, const void* tau);
  void (*find_eigen)(bool vectors, bool upper, const MatrixBatch& a, void* values, int32_t* info);
  // Gives V, of which the singular vectors are columns, not V^H.
  void (*find_svd)(char what, const MatrixBatch& a, void* s, void* u, void* v, int32_t* info);
};

// The products of LU factors' diagonals, with the pivots' signs, to [result]; or, where [logarithm] is not null, a
// number of magnitude 1 or 0, and the logarithm of the magnitude. A kernel of boxcar's own.
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
