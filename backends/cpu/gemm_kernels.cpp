#include <boxcar/backends/cpu/gemm_kernels.h>

#include <cstddef>
#include <cstring>

namespace boxcar::cpu {
namespace {

// A register of [bytes], and what the kernels do with it. All is inlined into functions that are compiled for one
// instruction set each.
template <class T, int bytes>
struct Register {
  static constexpr int kWidth = bytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};

template <class T, int bytes, int rows, int vectors>
[[gnu::always_inline]] inline void tile(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b,
                                        T* out) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  Vector sums[rows][vectors] = {};
  for (int64_t p = 0; p < k; ++p, a += a_column_step, b += vectors * kWidth) {
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
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(out + (i * vectors + v) * kWidth) = sums[i][v];
  }
}

template <class T, int bytes>
[[gnu::always_inline]] inline T dot(int64_t n, const T* x, const T* y) {
  using Vector = typename Register<T, bytes>::Vector;
  constexpr int kWidth = Register<T, bytes>::kWidth;
  constexpr int kChains = 4;
  Vector sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * kWidth <= n; i += kChains * kWidth) {
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

// The kernels of one instruction set. A function's target cannot be a template argument, so this is a macro.
#define BOXCAR_GEMM_KERNELS(name, instructions, bytes, most_rows)                                                  \
  template <class T>                                                                                               \
  struct name {                                                                                                    \
    template <int rows, int vectors>                                                                               \
    instructions static void runTile(int64_t k, const T* a, int64_t a_row_step, int64_t a_column_step, const T* b, \
                                     T* out) {                                                                     \
      tile<T, bytes, rows, vectors>(k, a, a_row_step, a_column_step, b, out);                                      \
    }                                                                                                              \
    instructions static T runDot(int64_t n, const T* x, const T* y) { return dot<T, bytes>(n, x, y); }             \
    instructions static void runAddScaled(int64_t n, T factor, const T* x, T* y) {                                 \
      addScaled<T, bytes>(n, factor, x, y);                                                                        \
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
                                                runAddScaled};                                                     \
  }

#ifdef __x86_64__
BOXCAR_GEMM_KERNELS(Avx512Kernels, [[gnu::target("avx512f")]], 64, 12);
BOXCAR_GEMM_KERNELS(Avx2Kernels, [[gnu::target("avx2,fma")]], 32, 6);
#endif
BOXCAR_GEMM_KERNELS(BaselineKernels, , 16, 6);

#undef BOXCAR_GEMM_KERNELS

template <class T>
const GemmKernels<T>& choose() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return Avx512Kernels<T>::kKernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2Kernels<T>::kKernels;
#endif
  return BaselineKernels<T>::kKernels;
}

}  // namespace

template <class T>
const GemmKernels<T>& gemmKernels() {
  static const GemmKernels<T>& kernels = choose<T>();
  return kernels;
}

template const GemmKernels<float>& gemmKernels();
template const GemmKernels<double>& gemmKernels();

}  // namespace boxcar::cpu
