#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/simple.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

// Functions of a few instructions: those that have no 16-byte vector instruction that the compiler could use, and those
// that benefit from longer vectors.
#define BOXCAR_SIMPLE_FUNCTION(Function, expression)           \
  template <class T>                                           \
  struct Function {                                            \
    explicit Function(const Scalar*) {}                        \
    template <class D, class V>                                \
    HWY_INLINE V operator()([[maybe_unused]] D d, V x) const { \
      return expression;                                       \
    }                                                          \
  };
BOXCAR_SIMPLE_FUNCTION(Abs, hn::Abs(x))
BOXCAR_SIMPLE_FUNCTION(Neg, hn::Neg(x))
BOXCAR_SIMPLE_FUNCTION(Square, hn::Mul(x, x))
BOXCAR_SIMPLE_FUNCTION(Sqrt, hn::Sqrt(x))
BOXCAR_SIMPLE_FUNCTION(Reciprocal, hn::Div(hn::Set(d, T(1)), x))
BOXCAR_SIMPLE_FUNCTION(Rsqrt, hn::Div(hn::Set(d, T(1)), hn::Sqrt(x)))
BOXCAR_SIMPLE_FUNCTION(Floor, hn::CopySign(hn::Floor(x), x))
BOXCAR_SIMPLE_FUNCTION(Ceil, hn::CopySign(hn::Ceil(x), x))
BOXCAR_SIMPLE_FUNCTION(Trunc, hn::CopySign(hn::Trunc(x), x))
BOXCAR_SIMPLE_FUNCTION(Round, hn::CopySign(hn::Round(x), x))
// NaN stays NaN.
BOXCAR_SIMPLE_FUNCTION(Relu, hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x))
BOXCAR_SIMPLE_FUNCTION(Hardswish, hn::Div(hn::Mul(x, hn::Min(hn::Max(hn::Add(x, hn::Set(d, T(3))), hn::Zero(d)),
                                                             hn::Set(d, T(6)))),
                                          hn::Set(d, T(6))))
#undef BOXCAR_SIMPLE_FUNCTION

// The upper bound takes precedence over the lower one; a NaN bound makes all results NaN.
template <class T>
struct ClampScalar {
  T low, high;
  explicit ClampScalar(const Scalar* params) : low(params[0].to<T>()), high(params[1].to<T>()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V least = hn::Set(d, low);
    const V most = hn::Set(d, high);
    const V raised = hn::IfThenElse(hn::Lt(x, least), least, x);
    const V bounded = hn::IfThenElse(hn::Gt(raised, most), most, raised);
    return low != low || high != high ? hn::Set(d, kNan<T>) : bounded;
  }
};

template <class T>
struct LeakyRelu {
  T slope;
  explicit LeakyRelu(const Scalar* params) : slope(params->to<T>()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(x, hn::Set(d, slope)));
  }
};

BOXCAR_VECTOR_UNARY_ROWS(Abs)
BOXCAR_VECTOR_UNARY_ROWS(Neg)
BOXCAR_VECTOR_UNARY_ROWS(Square)
BOXCAR_VECTOR_UNARY_ROWS(ClampScalar)
BOXCAR_VECTOR_UNARY_ROWS(Sqrt)
BOXCAR_VECTOR_UNARY_ROWS(Reciprocal)
BOXCAR_VECTOR_UNARY_ROWS(Rsqrt)
BOXCAR_VECTOR_UNARY_ROWS(Floor)
BOXCAR_VECTOR_UNARY_ROWS(Ceil)
BOXCAR_VECTOR_UNARY_ROWS(Trunc)
BOXCAR_VECTOR_UNARY_ROWS(Round)
BOXCAR_VECTOR_UNARY_ROWS(Relu)
BOXCAR_VECTOR_UNARY_ROWS(LeakyRelu)
BOXCAR_VECTOR_UNARY_ROWS(Hardswish)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_UNARY_DISPATCH(Abs)
BOXCAR_VECTOR_UNARY_DISPATCH(Neg)
BOXCAR_VECTOR_UNARY_DISPATCH(Square)
BOXCAR_VECTOR_UNARY_DISPATCH(ClampScalar)
BOXCAR_VECTOR_UNARY_DISPATCH(Sqrt)
BOXCAR_VECTOR_UNARY_DISPATCH(Reciprocal)
BOXCAR_VECTOR_UNARY_DISPATCH(Rsqrt)
BOXCAR_VECTOR_UNARY_DISPATCH(Floor)
BOXCAR_VECTOR_UNARY_DISPATCH(Ceil)
BOXCAR_VECTOR_UNARY_DISPATCH(Trunc)
BOXCAR_VECTOR_UNARY_DISPATCH(Round)
BOXCAR_VECTOR_UNARY_DISPATCH(Relu)
BOXCAR_VECTOR_UNARY_DISPATCH(LeakyRelu)
BOXCAR_VECTOR_UNARY_DISPATCH(Hardswish)

}  // namespace boxcar::cpu
#endif
