#include <boxcar/backends/cpu/gemm_kernels.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/plain_gemm.h>

#include <algorithm>
#include <cstring>

namespace boxcar::cpu {
namespace {

// Blocks of this many elements stay in the caches: a packed part of [a] in L2, one of [b] in L3.
constexpr int64_t kBlockRows = 96;
constexpr int64_t kBlockDepth = 256;
constexpr int64_t kBlockColumns = 2048;
// Up to kMostUnpackedRows rows of [a] are read in place, and so are columns of [b] that at most kFewRows rows use.
constexpr int64_t kMostUnpackedRows = 48;
constexpr int64_t kFewRows = 12;
// Products with at most this many rows or columns are computed as sums of scaled vectors or as dot products.
constexpr int64_t kThin = GemmKernels<float>::kMostDotRows;
// A matrix of more elements than this is read from memory, or from a cache that threads share.
template <class T>
constexpr int64_t kCached = (int64_t{1} << 20) / static_cast<int64_t>(sizeof(T));
// With fewer columns, the loop over several rows costs more than it saves.
constexpr int64_t kLeastScaled = 16;
// Products with fewer multiplications run in one thread; a thread gets at least kLeastShare rows or columns.
constexpr int64_t kSharedWork = 1 << 18;
constexpr int64_t kLeastShare = 24;

// Copies [k] by [n] elements of [b] into consecutive panels of [width] columns, stored one k after the other; the last
// panel is padded with zeros.
template <class T>
void packColumns(Matrix<const T> b, int64_t k, int64_t n, int64_t width, T* packed) {
  for (int64_t j = 0; j < n; j += width) {
    const int64_t columns = std::min(width, n - j);
    T* panel = packed + j * k;
    for (int64_t p = 0; p < k; ++p, panel += width) {
      const T* row = &b.at(p, j);
      if (b.column_step == 1) {
        std::memcpy(panel, row, static_cast<size_t>(columns) * sizeof(T));
      } else {
        for (int64_t i = 0; i < columns; ++i) panel[i] = row[i * b.column_step];
      }
      std::fill(panel + columns, panel + width, T(0));
    }
  }
}

// Returns how many of [left] rows the next tile has: [most], four or one.
int64_t tileRows(int64_t left, int64_t most) {
  const bool leaves_single_rows = left < 2 * most && left % 4 == 0 && (left - most) % 4 != 0;
  return left >= most && !leaves_single_rows ? most : left >= 4 ? 4 : 1;
}

// Copies [m] by [k] elements of [a] into panels of [height] rows. Rows that do not fill a panel follow in panels of
// four rows or one, without padding, so a panel starts at its first row times k.
template <class T>
void packRows(Matrix<const T> a, int64_t m, int64_t k, int64_t height, T* packed) {
  for (int64_t i = 0; i < m;) {
    const int64_t rows = tileRows(m - i, height);
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t r = 0; r < rows; ++r) packed[i * k + p * rows + r] = a.at(i + r, p);
    }
    i += rows;
  }
}

// c[rows][columns] += alpha * tile, or = alpha * tile.
template <class T>
void addTile(const T* tile, int64_t width, int64_t rows, int64_t columns, T alpha, bool accumulate, Matrix<T> c) {
  for (int64_t i = 0; i < rows; ++i, tile += width) {
    T* __restrict row = c.data + i * c.row_step;
    if (c.column_step != 1) {
      for (int64_t j = 0; j < columns; ++j) {
        T& element = row[j * c.column_step];
        element = accumulate ? element + alpha * tile[j] : alpha * tile[j];
      }
    } else if (accumulate) {
      for (int64_t j = 0; j < columns; ++j) row[j] += alpha * tile[j];
    } else {
      for (int64_t j = 0; j < columns; ++j) row[j] = alpha * tile[j];
    }
  }
}

}  // namespace

template <class T>
void multiplyBlock(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                   bool rows_packed, const GemmColumns<T>& columns, bool accumulate, Matrix<T> c) {
  alignas(64) T tile[GemmKernels<T>::kMostRows * GemmKernels<T>::kMostColumns];
  const int64_t width = columns.width;
  const bool narrow = width != kernels.columns;
  const bool fits = alpha == T(1) && c.column_step == 1;
  for (int64_t j = 0; j < n; j += width) {
    const T* const b = columns.data + j * columns.column_step;
    for (int64_t i = 0; i < m;) {
      const int64_t rows = tileRows(m - i, kernels.rows);
      // A whole tile goes directly to c.
      const bool is_direct = fits && j + width <= n;
      T* const out = is_direct ? &c.at(i, j) : tile;
      const int64_t out_step = is_direct ? c.row_step : width;
      const bool adds = is_direct && accumulate;
      const auto run = rows == kernels.rows ? (narrow ? kernels.narrow : kernels.wide)
                       : rows == 4          ? (narrow ? kernels.narrow_4_rows : kernels.wide_4_rows)
                                            : (narrow ? kernels.narrow_1_row : kernels.wide_1_row);
      if (rows_packed) {
        run(k, a.data + i * k, 1, rows, b, columns.step, out, out_step, adds);
      } else {
        run(k, &a.at(i, 0), a.row_step, a.column_step, b, columns.step, out, out_step, adds);
      }
      if (!is_direct) {
        addTile(tile, width, rows, std::min(width, n - j), alpha, accumulate,
                Matrix<T>{&c.at(i, j), c.row_step, c.column_step});
      }
      i += rows;
    }
  }
}

namespace {

template <class T>
void scale(int64_t m, int64_t n, T beta, Matrix<T> c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c.at(i, j) = beta == T(0) ? T(0) : beta * c.at(i, j);
  }
}

// Computes a product of few rows without packing; returns false if the steps of [b] suit neither method. [columns] is
// the number of columns of the whole product, of which the others are other threads': kernels differ in rounding.
template <class T>
bool multiplyThin(const GemmKernels<T>& kernels, int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a,
                  Matrix<const T> b, Matrix<T> c, int64_t columns) {
  const bool has_columns = b.row_step == 1 && a.column_step == 1;
  if (b.column_step == 1 && c.column_step == 1 && !(has_columns && n <= kThin)) {
    constexpr int64_t kRows = GemmKernels<T>::kScaledRows;
    int64_t p = 0;
    for (; n >= kLeastScaled && p + kRows <= k; p += kRows) {
      T factors[kThin * kRows];
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t r = 0; r < kRows; ++r) factors[i * kRows + r] = alpha * a.at(i, p + r);
      }
      kernels.addScaledRows[m - 1](n, factors, &b.at(p, 0), b.row_step, c.data, c.row_step);
    }
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t q = p; q < k; ++q) kernels.addScaled(n, alpha * a.at(i, q), &b.at(q, 0), &c.at(i, 0));
    }
    return true;
  }
  if (has_columns) {
    int64_t j = 0;
    if (c.column_step == 1) {
      j = n - n % GemmKernels<T>::kDots;
      const auto run = (columns * k > kCached<T> ? kernels.dots_from_memory : kernels.dots)[m - 1];
      run(k, alpha, a.data, a.row_step, b.data, b.column_step, j, c.data, c.row_step);
    }
    for (; j < n; ++j) {
      for (int64_t i = 0; i < m; ++i) c.at(i, j) += alpha * kernels.dot(k, &a.at(i, 0), &b.at(0, j));
    }
    return true;
  }
  return false;
}

// Computes a product, or the part of one whose rows or columns, the more of the two, are [longer].
template <class T>
void multiplyAll(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c,
                 int64_t longer) {
  if (m == 0 || n == 0) return;
  const GemmKernels<T>& kernels = gemmKernels<T>(n);
  const bool thin = m <= kThin || n <= kThin;
  const bool scales = beta != T(0) || k == 0 || thin;
  if (scales && beta != T(1)) scale(m, n, beta, c);
  if (k == 0) return;
  if (m <= kThin && multiplyThin(kernels, m, n, k, alpha, a, b, c, longer)) return;
  // (b^T a^T)^T
  if (n <= kThin && multiplyThin(kernels, n, m, k, alpha, b.transposed(), a.transposed(), c.transposed(), longer)) {
    return;
  }

  const int64_t narrow = kernels.columns / 2;
  const int64_t width = n <= narrow ? narrow : kernels.columns;
  // Columns that are read only a few times are read in place.
  if (m <= kFewRows && b.column_step == 1 && n % width == 0) {
    return multiplyBlock(kernels, m, n, k, alpha, a, false, {b.data, 1, b.row_step, width}, scales, c);
  }
  const int64_t depth = std::min(k, kBlockDepth);
  const int64_t block_columns = std::min((n + width - 1) / width * width, kBlockColumns);
  const bool packs_rows = m > kMostUnpackedRows;
  Workspace<T> columns(depth * block_columns);
  Workspace<T> rows(packs_rows ? depth * kBlockRows : 0);
  for (int64_t j = 0; j < n; j += kBlockColumns) {
    const int64_t some_columns = std::min(kBlockColumns, n - j);
    for (int64_t p = 0; p < k; p += kBlockDepth) {
      const int64_t some_depth = std::min(kBlockDepth, k - p);
      const bool accumulate = scales || p > 0;
      packColumns(Matrix<const T>{&b.at(p, j), b.row_step, b.column_step}, some_depth, some_columns, width,
                  columns.data());
      for (int64_t i = 0; i < m; i += kBlockRows) {
        const int64_t some_rows = std::min(kBlockRows, m - i);
        Matrix<const T> block{&a.at(i, p), a.row_step, a.column_step};
        if (packs_rows) {
          packRows(block, some_rows, some_depth, kernels.rows, rows.data());
          block = {rows.data(), 0, 0};
        }
        multiplyBlock(kernels, some_rows, some_columns, some_depth, alpha, block, packs_rows,
                      {columns.data(), some_depth, width, width}, accumulate,
                      Matrix<T>{&c.at(i, j), c.row_step, c.column_step});
      }
    }
  }
}

}  // namespace

template <class T>
void plainGemm(int64_t m, int64_t n, int64_t k, T alpha, Matrix<const T> a, Matrix<const T> b, T beta, Matrix<T> c) {
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t longer = std::max(m, n);
  if (work < static_cast<double>(kSharedWork) || threadCount() == 1) {
    return multiplyAll(m, n, k, alpha, a, b, beta, c, longer);
  }
  // Each thread packs what it reads, so the longer side is split. It is split at multiples of kDots, where the dot
  // products of a thin product are split too, so that the order of summation does not depend on the number of threads.
  const auto cut = [](int64_t side, auto&& body) {
    constexpr int64_t kUnit = GemmKernels<T>::kDots;
    static_assert(kLeastShare % kUnit == 0);
    parallelFor(0, (side + kUnit - 1) / kUnit, kLeastShare / kUnit,
                [&](int64_t begin, int64_t end) { body(begin * kUnit, std::min(end * kUnit, side)); });
  };
  if (m >= n) {
    cut(m, [&](int64_t begin, int64_t end) {
      multiplyAll(end - begin, n, k, alpha, {&a.at(begin, 0), a.row_step, a.column_step}, b, beta,
                  {&c.at(begin, 0), c.row_step, c.column_step}, longer);
    });
  } else {
    cut(n, [&](int64_t begin, int64_t end) {
      multiplyAll(m, end - begin, k, alpha, a, {&b.at(0, begin), b.row_step, b.column_step}, beta,
                  {&c.at(0, begin), c.row_step, c.column_step}, longer);
    });
  }
}

template void plainGemm(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float,
                        Matrix<float>);
template void plainGemm(int64_t, int64_t, int64_t, double, Matrix<const double>, Matrix<const double>, double,
                        Matrix<double>);

template void multiplyBlock(const GemmKernels<float>&, int64_t, int64_t, int64_t, float, Matrix<const float>, bool,
                            const GemmColumns<float>&, bool, Matrix<float>);
template void multiplyBlock(const GemmKernels<double>&, int64_t, int64_t, int64_t, double, Matrix<const double>, bool,
                            const GemmColumns<double>&, bool, Matrix<double>);

}  // namespace boxcar::cpu
