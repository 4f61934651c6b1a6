#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/logarithm.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

template <class T>
struct Log {
  explicit Log(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return logarithm(d, x);
  }
};

template <class T>
struct Log2 {
  explicit Log2(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return boundLogarithm(d, x, hn::Log2(d, x));
  }
};

template <class T>
struct Log10 {
  explicit Log10(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return boundLogarithm(d, x, hn::Log10(d, x));
  }
};

template <class T>
struct Log1p {
  explicit Log1p(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return logarithmOfOneMore(d, x);
  }
};

// log(x / (1 - x)); if there is a bound [low], x is clamped to [low, 1 - low].
template <class T>
struct Logit {
  bool bounded;
  T low;
  explicit Logit(const Scalar* params) : bounded(!params->isBoolean()), low(bounded ? params->to<T>() : T(0)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = hn::Set(d, T(1));
    if (bounded) {
      const V least = hn::Set(d, low);
      const V most = hn::Set(d, T(1) - low);
      x = hn::IfThenElse(hn::Lt(x, least), least, hn::IfThenElse(hn::Gt(x, most), most, x));
    }
    return logarithm(d, hn::Div(x, hn::Sub(one, x)));
  }
};

template <class T>
struct Softplus {
  T beta, threshold;
  explicit Softplus(const Scalar* params) : beta(params[0].to<T>()), threshold(params[1].to<T>()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V scaled = hn::Mul(x, hn::Set(d, beta));
    const V smooth = hn::Div(logarithmOfOneMore(d, exponential(d, scaled)), hn::Set(d, beta));
    return hn::IfThenElse(hn::Gt(scaled, hn::Set(d, threshold)), x, smooth);
  }
};

template <class T>
struct LogSigmoid {
  explicit LogSigmoid(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V below = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Zero(d), x);
    return hn::Sub(below, logarithmOfOneMore(d, exponential(d, hn::Neg(hn::Abs(x)))));
  }
};

BOXCAR_VECTOR_UNARY_ROWS(Log)
BOXCAR_VECTOR_UNARY_ROWS(Log2)
BOXCAR_VECTOR_UNARY_ROWS(Log10)
BOXCAR_VECTOR_UNARY_ROWS(Log1p)
BOXCAR_VECTOR_UNARY_ROWS(Logit)
BOXCAR_VECTOR_UNARY_ROWS(Softplus)
BOXCAR_VECTOR_UNARY_ROWS(LogSigmoid)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_UNARY_DISPATCH(Log)
BOXCAR_VECTOR_UNARY_DISPATCH(Log2)
BOXCAR_VECTOR_UNARY_DISPATCH(Log10)
BOXCAR_VECTOR_UNARY_DISPATCH(Log1p)
BOXCAR_VECTOR_UNARY_DISPATCH(Logit)
BOXCAR_VECTOR_UNARY_DISPATCH(Softplus)
BOXCAR_VECTOR_UNARY_DISPATCH(LogSigmoid)

}  // namespace boxcar::cpu
#endif
