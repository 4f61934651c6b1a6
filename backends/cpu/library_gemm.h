#pragma once

#include <boxcar/backends/cpu/matrix.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>

// Matrix products by libraries. Each function returns false and does nothing if the library is not available or does
// not support the layout of the matrices; arguments are those of gemm (gemm.h).

namespace boxcar::cpu {

// Uses oneDNN (onednn/, no_onednn/).
bool gemmByOneDnn(int64_t m, int64_t n, int64_t k, float alpha, Matrix<const float> a, Matrix<const float> b,
                  float beta, Matrix<float> c);
// out = a @ b for bfloat16 matrices or batches of them, accumulated in float32.
bool multiplyBFloat16ByOneDnn(const Tensor& out, const Tensor& a, const Tensor& b);

// Uses OpenBLAS (openblas/, no_openblas/): float, double and both complex types.
template <class T>
bool gemmByOpenBlas(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta,
                    Matrix<T> c);

// A matrix as described to a library with row-major matrices: whether it is transposed, the step between its rows (or
// columns, if transposed), and whether its elements are conjugated.
struct LibraryMatrix {
  bool transposed;
  int64_t step;
  bool is_conjugated = false;
};

// Returns nullopt if neither the rows nor the columns consist of adjacent elements.
template <class T>
std::optional<LibraryMatrix> asLibraryMatrix(int64_t rows, int64_t columns, const Matrix<T>& matrix) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (rows > kMost || columns > kMost) return std::nullopt;
  // The step of a dimension of size 1 has no meaning.
  const int64_t row_step = rows == 1 ? std::max<int64_t>(columns, 1) : matrix.row_step;
  const int64_t column_step = columns == 1 ? (rows == 1 ? 1 : std::max<int64_t>(rows, 1)) : matrix.column_step;
  const bool is_row_line = columns == 1 || matrix.column_step == 1;
  const bool is_column_line = rows == 1 || matrix.row_step == 1;
  if (is_row_line && row_step >= std::max<int64_t>(columns, 1) && row_step <= kMost)
    return LibraryMatrix{false, row_step, matrix.is_conjugated};
  if (is_column_line && column_step >= std::max<int64_t>(rows, 1) && column_step <= kMost) {
    return LibraryMatrix{true, column_step, matrix.is_conjugated};
  }
  return std::nullopt;
}

// Runs the product in a library's terms: run(LibraryMatrix a, LibraryMatrix b, m, n, k, a, b, c, ldc), all row-major.
// Returns false if the layout of one of the matrices is unsuitable.
template <class T, class Run>
bool runLibraryGemm(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Run&& run) {
  const auto c_as = asLibraryMatrix(m, n, c);
  if (!c_as.has_value()) return false;
  // (b^T a^T)^T
  if (c_as->transposed) return runLibraryGemm<T>(n, m, k, b.transposed(), a.transposed(), c.transposed(), run);
  const auto a_as = asLibraryMatrix(m, k, a);
  const auto b_as = asLibraryMatrix(k, n, b);
  if (!a_as.has_value() || !b_as.has_value()) return false;
  run(*a_as, *b_as, m, n, k, a.data, b.data, c.data, c_as->step);
  return true;
}

}  // namespace boxcar::cpu
