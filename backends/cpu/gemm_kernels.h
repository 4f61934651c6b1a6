#pragma once

#include <cstdint>

namespace boxcar::cpu {

// The innermost loops of the matrix product for one kind of CPU.
template <class T>
struct GemmKernels {
  static constexpr int kMostRows = 12;
  static constexpr int kMostColumns = 64;

  // out[rows][columns] = sum over k of a(row, k) * b(k, column). [a] has row and column steps; [b] has as many adjacent
  // elements as the kernel has columns, and [b_step] from one k to the next. Rows of [out] are [out_step] apart; with
  // [accumulate], the sums are added to it.
  using Tile = void (*)(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b, int64_t b_step,
                        T* out, int64_t out_step, bool accumulate);
  // Returns the sum of x[i] * y[i].
  using Dot = T (*)(int64_t n, const T* x, const T* y);
  // out[row][column] += alpha * the sum of x[row][i] * y[column][i], for all [columns], a multiple of kDots. The steps
  // give the distance in elements between rows of [x], [y] and [out].
  using Dots = void (*)(int64_t n, T alpha, const T* x, int64_t x_step, const T* y, int64_t y_step, int64_t columns,
                        T* out, int64_t out_step);
  static constexpr int kDots = 4;
  static constexpr int kMostDotRows = 3;
  // y[i] += factor * x[i].
  using AddScaled = void (*)(int64_t n, T factor, const T* x, T* y);
  // y[row][i] += factors[row][r] * x[r][i], for one of kScaledRows rows r of [x] after the other. The steps give the
  // distance in elements between rows of [x] and of [y].
  using AddScaledRows = void (*)(int64_t n, const T* factors, const T* x, int64_t x_step, T* y, int64_t y_step);
  static constexpr int kScaledRows = 8;

  int rows;     // of the tallest tile
  int columns;  // of a wide tile; a narrow one has half as many
  Tile wide;
  Tile wide_4_rows;
  Tile wide_1_row;
  Tile narrow;
  Tile narrow_4_rows;
  Tile narrow_1_row;
  Dot dot;
  Dots dots[kMostDotRows];              // for one, two and three rows
  Dots dots_from_memory[kMostDotRows];  // the same, for a [y] that lies in memory rather than in a cache
  AddScaled addScaled;
  AddScaledRows addScaledRows[kMostDotRows];  // for one, two and three rows of [y]
};

// Returns the kernels for the CPU that the program runs on and for products of [n] columns: few columns do not need
// wide registers.
template <class T>
const GemmKernels<T>& gemmKernels(int64_t n);

}  // namespace boxcar::cpu
