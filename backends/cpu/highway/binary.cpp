#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/binary.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

#define BOXCAR_PAIR_FUNCTION(Function, expression)                  \
  struct Function {                                                 \
    template <class D, class V>                                     \
    HWY_INLINE V operator()([[maybe_unused]] D d, V a, V b) const { \
      return expression;                                            \
    }                                                               \
  };
BOXCAR_PAIR_FUNCTION(Add, hn::Add(a, b))
BOXCAR_PAIR_FUNCTION(Sub, hn::Sub(a, b))
BOXCAR_PAIR_FUNCTION(Mul, hn::Mul(a, b))
BOXCAR_PAIR_FUNCTION(Div, hn::Div(a, b))
// NaN in either operand propagates.
BOXCAR_PAIR_FUNCTION(Maximum, hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b))
BOXCAR_PAIR_FUNCTION(Minimum, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b))
#undef BOXCAR_PAIR_FUNCTION

BOXCAR_VECTOR_BINARY_ROWS(Add)
BOXCAR_VECTOR_BINARY_ROWS(Sub)
BOXCAR_VECTOR_BINARY_ROWS(Mul)
BOXCAR_VECTOR_BINARY_ROWS(Div)
BOXCAR_VECTOR_BINARY_ROWS(Maximum)
BOXCAR_VECTOR_BINARY_ROWS(Minimum)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_BINARY_DISPATCH(Add)
BOXCAR_VECTOR_BINARY_DISPATCH(Sub)
BOXCAR_VECTOR_BINARY_DISPATCH(Mul)
BOXCAR_VECTOR_BINARY_DISPATCH(Div)
BOXCAR_VECTOR_BINARY_DISPATCH(Maximum)
BOXCAR_VECTOR_BINARY_DISPATCH(Minimum)

}  // namespace boxcar::cpu
#endif
