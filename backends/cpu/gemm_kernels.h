#pragma once

#include <cstdint>

namespace boxcar::cpu {

// The innermost loops of the matrix product for one kind of processor.
template <class T>
struct GemmKernels {
  static constexpr int kMostRows = 12;
  static constexpr int kMostColumns = 64;

  // out[rows][columns] = sum over k of a(row, k) * b(k, column). [a] has steps between rows and columns; [b] has as
  // many elements side by side as the kernel has columns, [b_step] from one k to the next. [out] is as wide as the
  // kernel.
  using Tile = void (*)(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b, int64_t b_step,
                        T* out);
  // The sum of x[i] * y[i].
  using Dot = T (*)(int64_t n, const T* x, const T* y);
  // out[row][column] += alpha * the sum of x[row][i] * y[column][i], for all of [columns], a multiple of kDots. Rows of
  // [x], [y] and [out] are so many elements after one another.
  using Dots = void (*)(int64_t n, T alpha, const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t columns,
                        T* out, int64_t out_step);
  static constexpr int kDots = 4;
  static constexpr int kMostDotRows = 3;
  // y[i] += factor * x[i].
  using AddScaled = void (*)(int64_t n, T factor, const T* x, T* y);

  int rows;     // of the widest tile
  int columns;  // of a wide tile; a narrow one has half
  Tile wide;
  Tile wide_4_rows;
  Tile wide_1_row;
  Tile narrow;
  Tile narrow_4_rows;
  Tile narrow_1_row;
  Dot dot;
  Dots dots[kMostDotRows];  // for one row, two, three
  AddScaled addScaled;
};

// Those for the processor that the program runs on, and for products of [n] columns: few need no long registers.
template <class T>
const GemmKernels<T>& gemmKernels(int64_t n);

}  // namespace boxcar::cpu
