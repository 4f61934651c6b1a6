#pragma once

#include <cstdint>

namespace boxcar::cpu {

// The innermost loops of the matrix product for one kind of processor.
template <class T>
struct GemmKernels {
  static constexpr int kMostRows = 12;
  static constexpr int kMostColumns = 64;

  // out[rows][columns] = sum over k of a(row, k) * b(k, column). [a] has steps between rows and columns; [b] is packed:
  // as many elements as the kernel has columns, one k after the other. [out] is as wide as the kernel.
  using Tile = void (*)(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b, T* out);
  // The sum of x[i] * y[i].
  using Dot = T (*)(int64_t n, const T* x, const T* y);
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
  AddScaled addScaled;
};

// Those for the processor that the program runs on.
template <class T>
const GemmKernels<T>& gemmKernels();

}  // namespace boxcar::cpu
