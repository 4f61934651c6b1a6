#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/strided_loop.h>
#include <boxcar/backends/functors/element.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace boxcar::cpu {

namespace detail {

template <class T>
inline T& at(char* address) {
  return *reinterpret_cast<T*>(address);
}

// One row of a loop: writes [n] results of [f] to elements of Out at p[0], read from elements of In at p[1] and on,
// with steps s. Rows with contiguous operands have their own loop, which the compiler vectorises. Operands may be the
// same memory but must not overlap otherwise; the pragma states this.
template <class Out, class... In, class F, size_t... k>
inline void runRow(char* const* p, const int64_t* s, int64_t n, const F& f, std::index_sequence<k...>) {
  if (s[0] == sizeof(Out) && ((s[k + 1] == sizeof(In)) && ...)) {
    Out* out = &at<Out>(p[0]);
    const auto loop = [&](const In*... in) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
    };
    return loop(&at<In>(p[k + 1])...);
  }
  for (int64_t i = 0; i < n; ++i) at<Out>(p[0] + i * s[0]) = f(at<In>(p[k + 1] + i * s[k + 1])...);
}

}  // namespace detail

// The body of a Loop: writes results of [f] as elements of Out, from inputs with elements of In.
template <class Out, class... In, class F>
inline void elementwise(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const F& f) {
  constexpr size_t kOperands = 1 + sizeof...(In);
  static_assert(kOperands <= kMaxOperands);
  char* p[kOperands];
  for (size_t k = 0; k < kOperands; ++k) p[k] = data[k];
  for (int64_t j = 0; j < n1; ++j) {
    detail::runRow<Out, In...>(p, steps, n0, f, std::index_sequence_for<In...>());
    for (size_t k = 0; k < kOperands; ++k) p[k] += steps[kMaxOperands + k];
  }
}

// The element sizes of a loop's operands in bytes, the result's first.
struct ElementSizes {
  int operands;
  uint8_t bytes[kMaxOperands];
};
template <class Out, class... In>
inline constexpr ElementSizes kElementSizes = {1 + sizeof...(In), {sizeof(Out), sizeof(In)...}};

// Shorter rows are not worth special handling.
inline constexpr int64_t kShortRow = 16;

// Returns whether the rows are not short, their operands are contiguous or stay in place, and at least one stays in
// place, such as a number that is combined with all elements of a row.
inline bool hasNumbers(const ElementSizes& sizes, const int64_t* steps, int64_t n0) {
  if (n0 < kShortRow || steps[0] != sizes.bytes[0]) return false;
  bool stays = false;
  for (int k = 1; k < sizes.operands; ++k) {
    if (steps[k] != 0 && steps[k] != sizes.bytes[k]) return false;
    stays |= steps[k] == 0;
  }
  return stays;
}

// Runs [loop], which vectorises contiguous operands, for operands that satisfy hasNumbers(); operands that stay in
// place are copied into a repeated row.
void repeatNumbers(Loop loop, const ElementSizes& sizes, char* const* data, const int64_t* steps, int64_t n0,
                   int64_t n1, const Scalar* params);

}  // namespace boxcar::cpu
