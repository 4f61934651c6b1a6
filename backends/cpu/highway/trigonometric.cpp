#include <boxcar/backends/cpu/highway/vector_functions.h>

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/trigonometric.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

// Highway's sine and cosine support these; larger numbers are rare and go to the standard library.
struct OfModerateAngles {
  explicit OfModerateAngles(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE auto covers(D d, V x) const {
    return hn::Le(hn::Abs(x), hn::Set(d, hn::TFromD<D>(30000)));
  }
};

template <class T>
struct Sin : OfModerateAngles {
  using OfModerateAngles::OfModerateAngles;
  static T outside(T x) { return std::sin(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sin(d, x);
  }
};

template <class T>
struct Cos : OfModerateAngles {
  using OfModerateAngles::OfModerateAngles;
  static T outside(T x) { return std::cos(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Cos(d, x);
  }
};

template <class T>
struct Tan : OfModerateAngles {
  using OfModerateAngles::OfModerateAngles;
  static T outside(T x) { return std::tan(x); }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(hn::Sin(d, x), hn::Cos(d, x));
  }
};

// Returns NaN where there is no angle.
template <class D, class V>
HWY_INLINE V boundAngle(D d, V x, V angle) {
  using T = hn::TFromD<D>;
  return hn::IfThenElse(hn::Le(hn::Abs(x), hn::Set(d, T(1))), angle, hn::Set(d, kNan<T>));
}

template <class T>
struct Asin {
  explicit Asin(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return boundAngle(d, x, hn::Asin(d, x));
  }
};

template <class T>
struct Acos {
  explicit Acos(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return boundAngle(d, x, hn::Acos(d, x));
  }
};

template <class T>
struct Atan {
  explicit Atan(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    // For larger |x|, the result is a right angle.
    const V limit = hn::Set(d, T(1e18));
    const V result = hn::Atan(d, hn::Min(hn::Max(x, hn::Neg(limit)), limit));
    return hn::IfThenElse(hn::IsNaN(x), x, hn::CopySign(result, x));
  }
};

BOXCAR_VECTOR_UNARY_ROWS(Sin)
BOXCAR_VECTOR_UNARY_ROWS(Cos)
BOXCAR_VECTOR_UNARY_ROWS(Tan)
BOXCAR_VECTOR_UNARY_ROWS(Asin)
BOXCAR_VECTOR_UNARY_ROWS(Acos)
BOXCAR_VECTOR_UNARY_ROWS(Atan)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_UNARY_DISPATCH(Sin)
BOXCAR_VECTOR_UNARY_DISPATCH(Cos)
BOXCAR_VECTOR_UNARY_DISPATCH(Tan)
BOXCAR_VECTOR_UNARY_DISPATCH(Asin)
BOXCAR_VECTOR_UNARY_DISPATCH(Acos)
BOXCAR_VECTOR_UNARY_DISPATCH(Atan)

}  // namespace boxcar::cpu
#endif
