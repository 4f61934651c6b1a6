#include <boxcar/backends/cpu/gemm_kernels.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace boxcar::cpu {
namespace {

// A register of [bytes], and the kernels' operations on it. Everything is inlined into functions that are compiled for
// one instruction set each.
template <class T, int bytes>
struct Register {
  static constexpr int kWidth = bytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void tile(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b,
                                        int64_t b_step, T* out, int64_t out_step, bool accumulate) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  Vector sums[rows][vectors] = {};
  for (int64_t p = 0; p < k; ++p, a += a_column_step, b += b_step) {
    Vector columns[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) columns[v] = *reinterpret_cast<const Vector*>(b + v * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const T factor = a[i * a_row_step];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[i][v] += factor * columns[v];
    }
  }
  if (accumulate) {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sums[i][v] += *reinterpret_cast<Vector*>(out + i * out_step + v * kWidth);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(out + i * out_step + v * kWidth) = sums[i][v];
  }
}

template <class T, int bytes>
[[gnu::always_inline]] inline T dot(int64_t n, const T* x, const T* y) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  constexpr int kChains = 4;
  constexpr int64_t kHeaviside = int64_t{kChains} * kWidth;
  Vector sums[kChains] = {};
  int64_t i = 0;
  for (; i + kHeaviside <= n; i += kHeaviside) {
#pragma GCC unroll 4
    for (int v = 0; v < kChains; ++v) {
      sums[v] +=
          *reinterpret_cast<const Vector*>(x + i + v * kWidth) * *reinterpret_cast<const Vector*>(y + i + v * kWidth);
    }
  }
  const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  T sum = 0;
#pragma GCC unroll 16
  for (int v = 0; v < kWidth; ++v) sum += all[v];
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// Shuffles of registers in pieces of 16 bytes: for each element of the result, the index of the source element in [a]
// followed by [b].

// One half of the pieces of [a], then the same half of those of [b].
template <class T, int bytes, int half>
struct PickHalves {
  using Vector = typename Register<T, bytes>::Vector;
  static constexpr int kWidth = Register<T, bytes>::kWidth;
  static constexpr int at(int i) { return i + half * kWidth / 2 + (i < kWidth / 2 ? 0 : kWidth / 2); }
};
// Every second piece of [a], then of [b].
template <class T, int bytes, int odd>
struct PickEverySecond {
  using Vector = typename Register<T, bytes>::Vector;
  static constexpr int kPiece = 16 / static_cast<int>(sizeof(T));
  static constexpr int at(int i) { return (2 * (i / kPiece) + odd) * kPiece + i % kPiece; }
};

// Adds what [First] and [Second] pick. Registers are passed by reference, because the convention for returning them
// depends on the target.
template <class First, class Second>
[[gnu::always_inline]] inline void addPicked(const typename First::Vector& a, const typename First::Vector& b,
                                             typename First::Vector& out) {
  [&]<size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    out = __builtin_shufflevector(a, b, First::at(i)...) + __builtin_shufflevector(a, b, Second::at(i)...);
  }
  (std::make_index_sequence<sizeof(a) / sizeof(a[0])>());
}

// Writes the sums of the elements of four registers to four elements at [out].
template <class T, int bytes>
[[gnu::always_inline]] inline void sumLanes(const typename Register<T, bytes>::Vector* v,
                                            typename Register<T, 16>::Vector* out) {
  using Piece = typename Register<T, 16>::Vector;
  Piece a, b, c, d;  // one for each register
  if constexpr (bytes == 16) {
    a = v[0], b = v[1], c = v[2], d = v[3];
  } else {
    typename Register<T, bytes>::Vector ab, cd;
    addPicked<PickHalves<T, bytes, 0>, PickHalves<T, bytes, 1>>(v[0], v[1], ab);
    addPicked<PickHalves<T, bytes, 0>, PickHalves<T, bytes, 1>>(v[2], v[3], cd);
    Piece pieces[bytes / 16];
    if constexpr (bytes == 64) {
      typename Register<T, bytes>::Vector abcd;
      addPicked<PickEverySecond<T, 64, 0>, PickEverySecond<T, 64, 1>>(ab, cd, abcd);
      std::memcpy(pieces, &abcd, sizeof(pieces));
      a = pieces[0], b = pieces[1], c = pieces[2], d = pieces[3];
    } else {
      std::memcpy(pieces, &ab, sizeof(pieces));
      a = pieces[0], b = pieces[1];
      std::memcpy(pieces, &cd, sizeof(pieces));
      c = pieces[0], d = pieces[1];
    }
  }
  if constexpr (sizeof(T) == 4) {
    const Piece first = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Piece second = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    *out = __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7);
  } else {
    out[0] = __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
    out[1] = __builtin_shufflevector(c, d, 0, 2) + __builtin_shufflevector(c, d, 1, 3);
  }
}

// Does the same for the four registers of each of two rows, which share the reduction from 64 bytes.
[[gnu::always_inline]] inline void sumLanesOfRows(const Register<float, 64>::Vector (&v)[2][4],
                                                  Register<float, 16>::Vector (&out)[2][1]) {
  using Vector = Register<float, 64>::Vector;
  Vector row[2];  // 16 bytes for each of its registers
  for (int r = 0; r < 2; ++r) {
    Vector ab, cd;
    addPicked<PickHalves<float, 64, 0>, PickHalves<float, 64, 1>>(v[r][0], v[r][1], ab);
    addPicked<PickHalves<float, 64, 0>, PickHalves<float, 64, 1>>(v[r][2], v[r][3], cd);
    addPicked<PickEverySecond<float, 64, 0>, PickEverySecond<float, 64, 1>>(ab, cd, row[r]);
  }
  const Vector& x = row[0];
  const Vector& y = row[1];
  const Vector pairs = __builtin_shufflevector(x, y, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
                       __builtin_shufflevector(x, y, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
  const Register<float, 32>::Vector sums = __builtin_shufflevector(pairs, pairs, 0, 4, 8, 12, 2, 6, 10, 14) +
                                           __builtin_shufflevector(pairs, pairs, 1, 5, 9, 13, 3, 7, 11, 15);
  std::memcpy(out, &sums, sizeof(sums));
}

// Asks for the line at [address], which may lie behind the end of a matrix, to be read into the second cache.
[[gnu::always_inline]] inline void prefetch(const void* address, int64_t bytes) {
  __builtin_prefetch(
      reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(address) + static_cast<uintptr_t>(bytes)), 0, 2);
}

// With [from_memory], [y] is read in the order in which it lies there, nearly: of kDots rows at a time, the processor
// reads half as much in a second.
template <class T, int bytes, int rows, bool from_memory>
[[gnu::always_inline]] inline void dots(int64_t n, T alpha, const T* x, int64_t x_step, const T* y, int64_t y_step,
                                        int64_t columns, T* out, int64_t out_step) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  constexpr int kDots = GemmKernels<T>::kDots;
  constexpr int kAtOnce = !from_memory ? kDots : rows == 1 ? 1 : 2;
  const int64_t ahead = rows == 1 ? 4096 : kAtOnce * y_step * static_cast<int64_t>(sizeof(T));
  for (; columns > 0; columns -= kDots, y += kDots * y_step, out += kDots) {
    Vector sums[rows][kDots] = {};
    int64_t i = 0;
#pragma GCC unroll 4
    for (int first = 0; first < kDots; first += kAtOnce) {
      Vector some[rows][kAtOnce] = {};
      for (i = 0; i + kWidth <= n; i += kWidth) {
        Vector read[kAtOnce];
#pragma GCC unroll 4
        for (int v = 0; v < kAtOnce; ++v) {
          const T* const from = y + (first + v) * y_step + i;
          read[v] = *reinterpret_cast<const Vector*>(from);
#if defined(__x86_64__) && !defined(__clang__)
          if constexpr (rows > 1) asm("" : "+x"(read[v]));  // load once; otherwise GCC loads once per row
#endif
          if constexpr (from_memory) prefetch(from, ahead);
        }
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) {
          const Vector row = *reinterpret_cast<const Vector*>(x + r * x_step + i);
#pragma GCC unroll 4
          for (int v = 0; v < kAtOnce; ++v) some[r][v] += row * read[v];
        }
      }
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kAtOnce; ++v) sums[r][first + v] = some[r][v];
      }
    }
    using Piece = typename Register<T, 16>::Vector;
    constexpr int kPieces = kDots / Register<T, 16>::kWidth;
    Piece dot[rows][kPieces];
    if constexpr (rows == 2 && bytes == 64 && sizeof(T) == 4) {
      sumLanesOfRows(sums, dot);
    } else {
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) sumLanes<T, bytes>(sums[r], dot[r]);
    }
    for (; i < n; ++i) {
      for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < kDots; ++v) {
          dot[r][v / Register<T, 16>::kWidth][v % Register<T, 16>::kWidth] += x[r * x_step + i] * y[v * y_step + i];
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kPieces; ++v) {
        *reinterpret_cast<Piece*>(out + r * out_step + v * Register<T, 16>::kWidth) += alpha * dot[r][v];
      }
    }
  }
}

template <class T, int bytes>
[[gnu::always_inline]] inline void addScaled(int64_t n, T factor, const T* x, T* y) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    *reinterpret_cast<Vector*>(y + i) += factor * *reinterpret_cast<const Vector*>(x + i);
  }
  for (; i < n; ++i) y[i] += factor * x[i];
}

// Reads several rows of [x] for each time that it reads and writes [y], and asks for those behind them.
template <class T, int bytes, int rows>
[[gnu::always_inline]] inline void addScaledRows(int64_t n, const T* factors, const T* x, int64_t x_step, T* y,
                                                 int64_t y_step) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  constexpr int kRows = GemmKernels<T>::kScaledRows;
  const int64_t ahead = kRows * x_step * static_cast<int64_t>(sizeof(T));
  int64_t i = 0;
  for (; i + kWidth <= n; i += kWidth) {
    Vector read[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const T* const from = x + r * x_step + i;
      read[r] = *reinterpret_cast<const Vector*>(from);
#if defined(__x86_64__) && !defined(__clang__)
      if constexpr (rows > 1) asm("" : "+x"(read[r]));  // load once; otherwise GCC loads once per row
#endif
      prefetch(from, ahead);
    }
#pragma GCC unroll 4
    for (int row = 0; row < rows; ++row) {
      Vector& target = *reinterpret_cast<Vector*>(y + row * y_step + i);
      Vector sum = target;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum += factors[row * kRows + r] * read[r];
      target = sum;
    }
  }
  for (; i < n; ++i) {
    for (int row = 0; row < rows; ++row) {
      for (int r = 0; r < kRows; ++r) y[row * y_step + i] += factors[row * kRows + r] * x[r * x_step + i];
    }
  }
}

// The kernels for one instruction set. This is a macro because a function's target cannot be a template argument.
#define BOXCAR_GEMM_KERNELS(name, instructions, bytes, most_rows)                                                  \
  template <class T>                                                                                               \
  struct name {                                                                                                    \
    template <int rows, int vectors>                                                                               \
    instructions static void runTile(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b, \
                                     int64_t b_step, T* out, int64_t out_step, bool accumulate) {                  \
      tile<T, bytes, rows, vectors>(k, a, a_row_step, a_column_step, b, b_step, out, out_step, accumulate);        \
    }                                                                                                              \
    template <int rows, bool from_memory>                                                                          \
    instructions static void runDots(int64_t n, T alpha, const T* x, int64_t x_step, const T* y, int64_t y_step,   \
                                     int64_t columns, T* out, int64_t out_step) {                                  \
      dots<T, bytes, rows, from_memory>(n, alpha, x, x_step, y, y_step, columns, out, out_step);                   \
    }                                                                                                              \
    instructions static T runDot(int64_t n, const T* x, const T* y) { return dot<T, bytes>(n, x, y); }             \
    instructions static void runAddScaled(int64_t n, T factor, const T* x, T* y) {                                 \
      addScaled<T, bytes>(n, factor, x, y);                                                                        \
    }                                                                                                              \
    template <int rows>                                                                                            \
    instructions static void runAddScaledRows(int64_t n, const T* factors, const T* x, int64_t x_step, T* y,       \
                                              int64_t y_step) {                                                    \
      addScaledRows<T, bytes, rows>(n, factors, x, x_step, y, y_step);                                             \
    }                                                                                                              \
    static constexpr GemmKernels<T> kKernels = {most_rows,                                                         \
                                                2 * Register<T, bytes>::kWidth,                                    \
                                                runTile<most_rows, 2>,                                             \
                                                runTile<4, 2>,                                                     \
                                                runTile<1, 2>,                                                     \
                                                runTile<most_rows, 1>,                                             \
                                                runTile<4, 1>,                                                     \
                                                runTile<1, 1>,                                                     \
                                                runDot,                                                            \
                                                {runDots<1, false>, runDots<2, false>, runDots<3, false>},         \
                                                {runDots<1, true>, runDots<2, true>, runDots<3, true>},            \
                                                runAddScaled,                                                      \
                                                {runAddScaledRows<1>, runAddScaledRows<2>, runAddScaledRows<3>}};  \
  }

#ifdef __x86_64__
BOXCAR_GEMM_KERNELS(Avx512Kernels, [[gnu::target("avx512f")]], 64, 12);
BOXCAR_GEMM_KERNELS(Avx2Kernels, [[gnu::target("avx2,fma")]], 32, 6);
#endif
BOXCAR_GEMM_KERNELS(BaselineKernels, , 16, 6);

#undef BOXCAR_GEMM_KERNELS

// Returns the kernels by register size in bytes: 64, 32 or 16.
template <class T>
const GemmKernels<T>& kernelsOf([[maybe_unused]] int bytes) {
#ifdef __x86_64__
  if (bytes == 64) return Avx512Kernels<T>::kKernels;
  if (bytes == 32) return Avx2Kernels<T>::kKernels;
#endif
  return BaselineKernels<T>::kKernels;
}

int longestRegister() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return __builtin_cpu_supports("avx512f") ? 64 : 32;
  }
#endif
  return 16;
}

}  // namespace

template <class T>
const GemmKernels<T>& gemmKernels(int64_t n) {
  static const int longest = longestRegister();
  return kernelsOf<T>(longest == 64 && n * static_cast<int64_t>(sizeof(T)) <= 32 ? 32 : longest);
}

template const GemmKernels<float>& gemmKernels(int64_t);
template const GemmKernels<double>& gemmKernels(int64_t);

}  // namespace boxcar::cpu
