#pragma once

#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::cpu {

// A matrix in memory: its first element, and the steps in elements to the next row and the next column. Products take
// the conjugates of the elements of one that [is_conjugated].
template <class T>
struct Matrix {
  T* data;
  int64_t row_step;
  int64_t column_step;
  bool is_conjugated = false;

  T& at(int64_t row, int64_t column) const { return data[row * row_step + column * column_step]; }
  Matrix transposed() const { return {data, column_step, row_step, is_conjugated}; }
  // The part from [row] and [column] on.
  Matrix from(int64_t row, int64_t column) const { return {&at(row, column), row_step, column_step, is_conjugated}; }
};

// Returns the matrix in a tensor's last two dimensions, [offset] elements from its first.
template <class T>
Matrix<T> matrixOf(const Tensor& tensor, int64_t offset = 0) {
  const auto strides = tensor.strides().last(2);
  return {static_cast<T*>(tensor.data_ptr()) + offset, strides[0], strides[1],
          tensor.key_set().has(DispatchKey::Conjugate)};
}

}  // namespace boxcar::cpu
