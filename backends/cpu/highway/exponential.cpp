#include <boxcar/backends/cpu/highway/vector_functions.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/exponential.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/exponential-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

template <class T>
struct Exp {
  explicit Exp(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exponential(d, x);
  }
};

template <class T>
struct Exp2 {
  explicit Exp2(const Scalar*) {}
  // Returns 2^n for an integer [n] in the exponent range of normal numbers.
  template <class D, class V>
  static HWY_INLINE V powerOfTwo(D d, V n) {
    const hn::RebindToSigned<D> integers;
    constexpr int kMantissa = kIsFloat<T> ? 23 : 52;
    constexpr int kBias = kIsFloat<T> ? 127 : 1023;
    // Adding a number this large leaves n in the lowest bits.
    const V shifter = hn::Set(d, kIsFloat<T> ? T(12582912) : T(6755399441055744));
    const auto bits = hn::BitCast(integers, hn::Add(n, hn::Add(shifter, hn::Set(d, T(kBias)))));
    return hn::BitCast(d, hn::ShiftLeft<kMantissa>(bits));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr T kHigh = kIsFloat<T> ? T(128) : T(1024);
    constexpr T kLow = kIsFloat<T> ? T(-150) : T(-1075);
    const V bounded = hn::Min(hn::Max(x, hn::Set(d, kLow)), hn::Set(d, kHigh));
    const V whole = hn::Round(bounded);
    const V fraction = hn::Mul(hn::Sub(bounded, whole), hn::Set(d, T(0.693147180559945309417)));
    // In two steps, because the smallest results are subnormal.
    const V half = hn::Floor(hn::Mul(whole, hn::Set(d, T(0.5))));
    const V first = hn::Mul(hn::Exp(d, fraction), powerOfTwo(d, half));
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Mul(first, powerOfTwo(d, hn::Sub(whole, half))));
  }
};

template <class T>
struct Expm1 {
  explicit Expm1(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exponentialLessOne(d, x);
  }
};

template <class T>
struct Sigmoid {
  explicit Sigmoid(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return logistic(d, x);
  }
};

template <class T>
struct Silu {
  explicit Silu(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(x, hn::Add(hn::Set(d, T(1)), exponential(d, hn::Neg(x))));
  }
};

// tanh(log(1 + e)) is n / (n + 2) for n = e * (e + 2).
template <class T>
struct Mish {
  explicit Mish(const Scalar*) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    // For larger x, the result is x itself.
    const V limit = hn::Set(d, T(40));
    const V two = hn::Set(d, T(2));
    const V e = exponential(d, hn::Min(x, limit));
    const V n = hn::Mul(e, hn::Add(e, two));
    return hn::IfThenElse(hn::Gt(x, limit), x, hn::Div(hn::Mul(x, n), hn::Add(n, two)));
  }
};

template <class T>
struct Elu {
  T negative_scale, scale, input_scale;
  explicit Elu(const Scalar* params)
      : negative_scale(params[0].to<T>() * params[1].to<T>()),
        scale(params[1].to<T>()),
        input_scale(params[2].to<T>()) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V negative = hn::Mul(exponentialLessOne(d, hn::Mul(x, hn::Set(d, input_scale))), hn::Set(d, negative_scale));
    return hn::IfThenElse(hn::Le(x, hn::Zero(d)), negative, hn::Mul(x, hn::Set(d, scale)));
  }
};

BOXCAR_VECTOR_UNARY_ROWS(Exp)
BOXCAR_VECTOR_UNARY_ROWS(Exp2)
BOXCAR_VECTOR_UNARY_ROWS(Expm1)
BOXCAR_VECTOR_UNARY_ROWS(Sigmoid)
BOXCAR_VECTOR_UNARY_ROWS(Silu)
BOXCAR_VECTOR_UNARY_ROWS(Mish)
BOXCAR_VECTOR_UNARY_ROWS(Elu)

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_UNARY_DISPATCH(Exp)
BOXCAR_VECTOR_UNARY_DISPATCH(Exp2)
BOXCAR_VECTOR_UNARY_DISPATCH(Expm1)
BOXCAR_VECTOR_UNARY_DISPATCH(Sigmoid)
BOXCAR_VECTOR_UNARY_DISPATCH(Silu)
BOXCAR_VECTOR_UNARY_DISPATCH(Mish)
BOXCAR_VECTOR_UNARY_DISPATCH(Elu)

}  // namespace boxcar::cpu
#endif
