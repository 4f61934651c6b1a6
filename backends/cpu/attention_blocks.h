#pragma once

#include <boxcar/backends/cpu/gemm_kernels.h>
#include <boxcar/backends/cpu/matrix.h>
#include <boxcar/backends/cpu/plain_gemm.h>
#include <boxcar/backends/cpu/vector_attention.h>
#include <boxcar/backends/native/attention.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Attention by blocks: what the forward and the backward pass share. Products are those of the tiles of
// gemm_kernels.h, on one thread; blocks are shared among threads.

namespace boxcar::cpu {

// Causal blocks are computed by strips of this many rows, which leave out the keys that all of them may not see. Tiles
// are as high, or half as high.
inline constexpr int64_t kStripRows = 12;

inline int64_t roundedUp(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

// Returns the step of rows of [columns] elements: an odd number of cache lines, so that rows do not meet in few of a
// cache's sets.
template <class T>
int64_t rowStep(int64_t columns) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  return ((columns + kLine - 1) / kLine | 1) * kLine;
}

struct AttentionSizes {
  explicit AttentionSizes(const native::AttentionCall& call)
      : batch(call.query.size(0)),
        heads(call.query.size(1)),
        key_heads(call.key.size(1)),
        queries(call.query.size(2)),
        keys(call.key.size(2)),
        width(call.query.size(3)),
        value_width(call.value.size(3)) {}

  int64_t batch;
  int64_t heads;
  int64_t key_heads;
  int64_t queries;
  int64_t keys;
  int64_t width;
  int64_t value_width;
};

// Returns the matrix of a head of [tensor], of 4 dimensions; its data are null if the tensor is undefined.
template <class T>
Matrix<T> headOf(const Tensor& tensor, int64_t batch, int64_t head) {
  if (!tensor.defined()) return {nullptr, 0, 0};
  return matrixOf<T>(tensor, batch * tensor.strides()[0] + head * tensor.strides()[1]);
}

// How tiles compute a product of [columns] columns.
template <class T>
struct Tiles {
  explicit Tiles(int64_t columns) : kernels(gemmKernels<T>(columns)) {
    width = columns <= kernels.columns / 2 ? kernels.columns / 2 : kernels.columns;
    padded = roundedUp(columns, width);
  }

  // Returns columns in rows of [step] elements, as many as padded().
  GemmColumns<T> rows(const T* data, int64_t step) const { return {data, 1, step, width}; }
  // Returns columns in panels (packTransposed).
  GemmColumns<T> panels(const T* data, int64_t depth) const { return {data, depth, width, width}; }

  // c = a @ b, or += that; rows of c have [columns] elements, rounded up to the width.
  void multiply(int64_t rows, int64_t columns, int64_t depth, Matrix<const T> a, const GemmColumns<T>& b,
                bool accumulate, T* c, int64_t c_step) const {
    multiplyBlock<T>(kernels, rows, roundedUp(columns, width), depth, T(1), a, /*rows_packed=*/false, b, accumulate,
                     {c, c_step, 1});
  }

  const GemmKernels<T>& kernels;
  int64_t width;
  int64_t padded;  // [columns], rounded up to the width
};

// Copies [n] rows of [depth] elements to rows that are [step] apart, padded with zeros to [padded] elements.
template <class T>
void copyRows(Matrix<const T> from, int64_t n, int64_t depth, T* to, int64_t step, int64_t padded) {
  for (int64_t i = 0; i < n; ++i, to += step) {
    if (from.column_step == 1) {
      std::memcpy(to, &from.at(i, 0), static_cast<size_t>(depth) * sizeof(T));
    } else {
      for (int64_t p = 0; p < depth; ++p) to[p] = from.at(i, p);
    }
    std::fill(to + depth, to + padded, T(0));
  }
}

// Writes [n] elements to a row whose elements are [step] apart, or adds them to it.
template <class T>
void writeRow(T* to, int64_t step, const T* from, int64_t n, bool accumulate) {
  if (step != 1) {
    for (int64_t j = 0; j < n; ++j) to[j * step] = accumulate ? to[j * step] + from[j] : from[j];
  } else if (accumulate) {
    for (int64_t j = 0; j < n; ++j) to[j] += from[j];
  } else {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  }
}

// Writes [n] rows of [depth] elements, multiplied by [scale], as the columns of panels of [width] columns each; the
// last panel is padded with zeros.
template <class T>
void packTransposed(Matrix<const T> from, int64_t n, int64_t depth, int64_t width, T scale, T* panels) {
  for (int64_t j = 0; j < n; j += width, panels += depth * width) {
    const int64_t columns = std::min(width, n - j);
    int64_t i = 0;
    if constexpr (sizeof(T) == sizeof(float)) {
      typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
      for (; from.column_step == 1 && i + 4 <= columns; i += 4) {
        const T* const row = &from.at(j + i, 0);
        const int64_t step = from.row_step;
        T* to = panels + i;
        int64_t p = 0;
        for (; p + 4 <= depth; p += 4, to += 4 * width) {
          const Four a = *reinterpret_cast<const Four*>(row + p) * scale;
          const Four b = *reinterpret_cast<const Four*>(row + step + p) * scale;
          const Four c = *reinterpret_cast<const Four*>(row + 2 * step + p) * scale;
          const Four d = *reinterpret_cast<const Four*>(row + 3 * step + p) * scale;
          const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
          const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
          const Four ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
          const Four cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
          *reinterpret_cast<Four*>(to) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
          *reinterpret_cast<Four*>(to + width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
          *reinterpret_cast<Four*>(to + 2 * width) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
          *reinterpret_cast<Four*>(to + 3 * width) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
        }
        for (; p < depth; ++p, to += width) {
          for (int64_t r = 0; r < 4; ++r) to[r] = row[r * step + p] * scale;
        }
      }
    }
    for (; i < columns; ++i) {
      for (int64_t p = 0; p < depth; ++p) panels[p * width + i] = from.at(j + i, p) * scale;
    }
    for (; i < width; ++i) {
      for (int64_t p = 0; p < depth; ++p) panels[p * width + i] = T(0);
    }
  }
}

// Adds [n] elements of a mask's row to scores.
template <class T>
void addMask(T* scores, const T* mask, int64_t step, int64_t n) {
  if (step <= 1) {
    return attentionRows<T>().add(scores, mask, static_cast<size_t>(step), static_cast<size_t>(n));
  }
  for (int64_t i = 0; i < n; ++i) scores[i] += mask[i * step];
}

}  // namespace boxcar::cpu
