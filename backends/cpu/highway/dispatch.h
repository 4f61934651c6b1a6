#pragma once

#include <boxcar/backends/cpu/vector_target.h>

#include <cstddef>

namespace boxcar::cpu {

// If the compiler targets a CPU with more than a given kind of vectors, nothing is compiled for that kind.
template <class Function>
constexpr Function* chosenOr(Function* chosen, Function*) {
  return chosen;
}
template <class Function>
constexpr Function* chosenOr(std::nullptr_t, Function* compiled) {
  return compiled;
}

}  // namespace boxcar::cpu

// Calls functions that foreach_target.h compiled for several kinds of vectors. These macros replace Highway's own
// HWY_EXPORT and HWY_DYNAMIC_DISPATCH, which need libhwy; libhwy measures the CPU clock whenever a program starts. Use
// them where HWY_ONCE is set, in the namespace that encloses HWY_NAMESPACE.
//
//   BOXCAR_VECTOR_EXPORT(SumFloat);
//   float sum(const float* x, size_t n) { return BOXCAR_VECTOR_CALL(SumFloat)(x, n); }
#define BOXCAR_VECTOR_EXPORT(function)                                                    \
  static constexpr decltype(&HWY_STATIC_DISPATCH(function)) function##ByTarget[] = {      \
      &HWY_STATIC_DISPATCH(function),                                                     \
      ::boxcar::cpu::chosenOr(HWY_CHOOSE_AVX2(function), &HWY_STATIC_DISPATCH(function)), \
      ::boxcar::cpu::chosenOr(HWY_CHOOSE_AVX3(function), &HWY_STATIC_DISPATCH(function))}
#define BOXCAR_VECTOR_CALL(function) (function##ByTarget[static_cast<int>(::boxcar::cpu::vectorTarget())])

// Defines rows<float>() and rows<double>(), which return what floatRows() and doubleRows() point to.
#define BOXCAR_VECTOR_TABLES(Rows, rows)      \
  BOXCAR_VECTOR_EXPORT(floatRows);            \
  BOXCAR_VECTOR_EXPORT(doubleRows);           \
  template <>                                 \
  const Rows<float>& rows<float>() {          \
    return *BOXCAR_VECTOR_CALL(floatRows)();  \
  }                                           \
  template <>                                 \
  const Rows<double>& rows<double>() {        \
    return *BOXCAR_VECTOR_CALL(doubleRows)(); \
  }
