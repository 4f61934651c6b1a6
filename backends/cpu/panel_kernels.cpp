#include <boxcar/backends/cpu/panel_kernels.h>

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace boxcar::cpu {
namespace {

#ifdef __x86_64__

constexpr int kLanes = 16;
// Rows share what is read of a panel, as many as there are registers for. The rows after them read it again, from the
// first cache: they follow after so many steps.
constexpr int64_t kStepsOfGroup = 16;

typedef float PanelLanes __attribute__((vector_size(64), aligned(4), may_alias));

// The kernels for one type of element. [multiplyAdd] adds the products of a row's element, or pair, and a vector of the
// panel's. This is a macro because a function's target cannot be a template argument.
#define BOXCAR_PANEL_KERNELS(name, instructions, T, kInputs, Vector, Factor, multiplyAdd)                           \
  template <int vectors>                                                                                            \
  struct name {                                                                                                     \
    template <int rows>                                                                                             \
    instructions static void addRows(int64_t steps, const T* x, int64_t x_step, const T* panel, float* sums) {      \
      PanelLanes all[rows][vectors];                                                                                \
      _Pragma("GCC unroll 8") for (int r = 0; r < rows; ++r) {                                                      \
        _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) {                                                 \
          all[r][v] = *reinterpret_cast<const PanelLanes*>(sums + (r * vectors + v) * kLanes);                      \
        }                                                                                                           \
      }                                                                                                             \
      for (; steps > 0; --steps, x += kInputs, panel += vectors * kLanes * kInputs) {                               \
        Vector read[vectors];                                                                                       \
        _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) {                                                 \
          std::memcpy(&read[v], panel + v * kLanes * kInputs, sizeof(Vector));                                      \
          if constexpr (rows > 1) asm("" : "+v"(read[v])); /* load once; otherwise GCC loads once per row */        \
        }                                                                                                           \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; ++r) {                                                    \
          Factor factor;                                                                                            \
          std::memcpy(&factor, x + r * x_step, sizeof(factor));                                                     \
          _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) multiplyAdd(all[r][v], factor, read[v]);        \
        }                                                                                                           \
      }                                                                                                             \
      _Pragma("GCC unroll 8") for (int r = 0; r < rows; ++r) {                                                      \
        _Pragma("GCC unroll 4") for (int v = 0; v < vectors; ++v) {                                                 \
          *reinterpret_cast<PanelLanes*>(sums + (r * vectors + v) * kLanes) = all[r][v];                            \
        }                                                                                                           \
      }                                                                                                             \
    }                                                                                                               \
    static int64_t addGroup(int64_t rows, int64_t steps, const T* x, int64_t x_step, const T* panel, float* sums) { \
      if (rows >= 6) return addRows<6>(steps, x, x_step, panel, sums), 6;                                           \
      if (rows >= 4) return addRows<4>(steps, x, x_step, panel, sums), 4;                                           \
      if (rows == 3) return addRows<3>(steps, x, x_step, panel, sums), 3;                                           \
      if (rows == 2) return addRows<2>(steps, x, x_step, panel, sums), 2;                                           \
      return addRows<1>(steps, x, x_step, panel, sums), 1;                                                          \
    }                                                                                                               \
    static void run(int64_t rows, int64_t steps, const T* x, int64_t x_step, const T* panel, float* sums) {         \
      constexpr int64_t kWidth = vectors * kLanes;                                                                  \
      std::fill_n(sums, rows* kWidth, 0.0f);                                                                        \
      const bool is_group = rows <= 4 || rows == 6;                                                                 \
      const int64_t most = is_group ? steps : kStepsOfGroup;                                                        \
      for (int64_t p = 0; p < steps; p += most) {                                                                   \
        const int64_t some = std::min(most, steps - p);                                                             \
        for (int64_t r = 0; r < rows;) {                                                                            \
          r += addGroup(rows - r, some, x + r * x_step + p * kInputs, x_step, panel + p * kWidth * kInputs,         \
                        sums + r * kWidth);                                                                         \
        }                                                                                                           \
      }                                                                                                             \
    }                                                                                                               \
  }

#define BOXCAR_ADD_FLOATS(sum, factor, vector) sum += factor * vector
#define BOXCAR_ADD_PAIRS(sum, factor, vector) \
  sum = (PanelLanes)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(factor), vector)

BOXCAR_PANEL_KERNELS(FloatPanels, [[gnu::target("avx512f")]], float, 1, PanelLanes, float, BOXCAR_ADD_FLOATS);
BOXCAR_PANEL_KERNELS(BFloat16Panels, [[gnu::target("avx512f,avx512bf16")]], uint16_t, 2, __m512bh, int,
                     BOXCAR_ADD_PAIRS);

#undef BOXCAR_ADD_PAIRS
#undef BOXCAR_ADD_FLOATS
#undef BOXCAR_PANEL_KERNELS

template <template <int> class Panels, class T>
PanelKernel<T> panelKernelOf(bool runs, int64_t width) {
  if (!runs) return nullptr;
  if (width == kLanes) return Panels<1>::run;
  if (width == 2 * kLanes) return Panels<2>::run;
  if (width == 4 * kLanes) return Panels<4>::run;
  return nullptr;
}

#endif

}  // namespace

PanelKernel<float> floatPanelKernel([[maybe_unused]] int64_t width) {
#ifdef __x86_64__
  return panelKernelOf<FloatPanels, float>(__builtin_cpu_supports("avx512f") != 0, width);
#else
  return nullptr;
#endif
}

PanelKernel<uint16_t> bfloat16PanelKernel([[maybe_unused]] int64_t width) {
#ifdef __x86_64__
  return panelKernelOf<BFloat16Panels, uint16_t>(__builtin_cpu_supports("avx512bf16") != 0, width);
#else
  return nullptr;
#endif
}

}  // namespace boxcar::cpu
