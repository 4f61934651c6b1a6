#pragma once

#include <cstdint>

namespace boxcar::cpu {

// A matrix in memory: its first element, and the steps, in elements, to the next row and the next column.
template <class T>
struct Matrix {
  T* data;
  int64_t row_step;
  int64_t column_step;

  T& at(int64_t row, int64_t column) const { return data[row * row_step + column * column_step]; }
  Matrix transposed() const { return {data, column_step, row_step}; }
};

// c = beta * c + alpha * a @ b, with a of [m] by [k] and b of [k] by [n] elements; what [c] held is not read when
// [beta] is 0. For float and double; [c] overlaps neither input.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c);

extern template void gemm(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                          Matrix<float>);
extern template void gemm(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                          Matrix<double>);

}  // namespace boxcar::cpu
