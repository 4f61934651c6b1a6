#include <boxcar/backends/cpu/highway/vector_functions.h>

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/hyperbolic.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

template <class T>
struct Sinh {
  explicit Sinh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    return hn::Le(hn::Abs(x), hn::Set(d, kIsFloat<T> ? T(88) : T(709)));
  }
  static T outside(T x) { return std::sinh(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sinh(d, x);
  }
};

template <class T>
struct Cosh {
  explicit Cosh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    return hn::Le(hn::Abs(x), hn::Set(d, kIsFloat<T> ? T(88) : T(709)));
  }
  static T outside(T x) { return std::cosh(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V half = hn::Set(d, T(0.5));
    const V e = hn::Exp(d, hn::Abs(x));
    return hn::MulAdd(half, e, hn::Div(half, e));
  }
};

template <class T>
struct Tanh {
  explicit Tanh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (kIsFloat<T>) {
      // tanh(x) / x as a rational function of x² for |x| up to 9, with error 2e-8; beyond that, tanh is 1.
      const V limit = hn::Set(d, 9.0f);
      const V bounded = hn::Min(hn::Max(x, hn::Neg(limit)), limit);
      const V square = hn::Mul(bounded, bounded);
      const V numerator = polynomial(d, square, 0.999999978602f, 0.133793503892f, 0.00349359385131f, 2.05760489272e-5f,
                                     1.33084138889e-8f);
      const V denominator =
          polynomial(d, square, 1.0f, 0.467126656009f, 0.0258694076098f, 0.000328236446992f, 7.75773442579e-7f);
      const V one = hn::Set(d, 1.0f);
      const V result = hn::Div(hn::Mul(bounded, numerator), denominator);
      return hn::IfThenElse(hn::IsNaN(x), x, hn::Min(hn::Max(result, hn::Neg(one)), one));
    } else {
      // For larger |x|, the result is 1.
      const V limit = hn::Set(d, T(20));
      const V result = hn::Tanh(d, hn::Min(hn::Max(x, hn::Neg(limit)), limit));
      return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(result, x));
    }
  }
};

template <class T>
struct Asinh {
  explicit Asinh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    // The square must be finite.
    return hn::Le(hn::Abs(x), hn::Set(d, kIsFloat<T> ? T(1e18) : T(1e150)));
  }
  static T outside(T x) { return std::asinh(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(hn::Asinh(d, x), x);
  }
};

template <class T>
struct Acosh {
  explicit Acosh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    return hn::And(hn::Ge(x, hn::Set(d, T(1))), hn::Le(x, hn::Set(d, kIsFloat<T> ? T(1e18) : T(1e150))));
  }
  static T outside(T x) { return std::acosh(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Acosh(d, x);
  }
};

template <class T>
struct Atanh {
  explicit Atanh(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    return hn::Lt(hn::Abs(x), hn::Set(d, T(1)));
  }
  static T outside(T x) { return std::atanh(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(hn::Atanh(d, x), x);
  }
};

BOXCAR_VECTOR_UNARY_ROWS(Sinh)
BOXCAR_VECTOR_UNARY_ROWS(Cosh)
BOXCAR_VECTOR_UNARY_ROWS(Tanh)
BOXCAR_VECTOR_UNARY_ROWS(Asinh)
BOXCAR_VECTOR_UNARY_ROWS(Acosh)
BOXCAR_VECTOR_UNARY_ROWS(Atanh)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_UNARY_DISPATCH(Sinh)
BOXCAR_VECTOR_UNARY_DISPATCH(Cosh)
BOXCAR_VECTOR_UNARY_DISPATCH(Tanh)
BOXCAR_VECTOR_UNARY_DISPATCH(Asinh)
BOXCAR_VECTOR_UNARY_DISPATCH(Acosh)
BOXCAR_VECTOR_UNARY_DISPATCH(Atanh)

}  // namespace boxcar::cpu
#endif
