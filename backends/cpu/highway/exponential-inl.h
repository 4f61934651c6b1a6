// Vector exponentials and logarithms, for all numbers, that other functions build on. Highway's functions are valid
// only for finite numbers within a range; numbers outside it, and NaN, are handled here.
// No #pragma once: Highway includes it once for every kind of vector.
#if defined(BOXCAR_HIGHWAY_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BOXCAR_HIGHWAY_EXPONENTIAL_INL_H_
#undef BOXCAR_HIGHWAY_EXPONENTIAL_INL_H_
#else
#define BOXCAR_HIGHWAY_EXPONENTIAL_INL_H_
#endif

#include <boxcar/backends/cpu/highway/rows-inl.h>
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

// Beyond these limits, e to the x is infinite or rounds to zero.
template <class T>
constexpr T kExpHigh = kIsFloat<T> ? T(88.72283935546875) : T(709.782712893384);
template <class T>
constexpr T kExpLow = kIsFloat<T> ? T(-103.972) : T(-745.133);
// For |x| up to this, the result is a normal number.
template <class T>
constexpr T kExpNormal = kIsFloat<T> ? T(87) : T(708);

// Returns e to the x for |x| up to kExpNormal: 2 to the integer nearest to x / log(2), times a polynomial of the
// remainder, which is between -log(2)/2 and log(2)/2. The error of the polynomial is 2e-9 for float, 3e-18 for double.
template <class D>
HWY_INLINE hn::Vec<D> normalExponential(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> integers;
  // Adding a number this large leaves the small one, rounded, in the lowest bits.
  const auto shifter = hn::Set(d, kIsFloat<T> ? T(12582912) : T(6755399441055744));
  const auto shifted = hn::MulAdd(x, hn::Set(d, T(1.44269504088896340736)), shifter);
  const auto whole = hn::Sub(shifted, shifter);
  // log(2) as a sum of two numbers, the first of which has few digits.
  const auto upper = hn::Set(d, kIsFloat<T> ? T(-0.693145751953125) : T(-0.6931471803691238));
  const auto lower = hn::Set(d, kIsFloat<T> ? T(-1.42860682030941723e-6) : T(-1.9082149292705877e-10));
  const auto rest = hn::MulAdd(whole, lower, hn::MulAdd(whole, upper, x));
  hn::Vec<D> power;
  if constexpr (kIsFloat<T>) {
    power = polynomial(d, rest, 1.0f, 1.0000000365f, 0.49999991927f, 0.166664193374f, 0.0416682559165f,
                       0.00837488831989f, 0.00138353898052f);
  } else {
    power = polynomial(d, rest, 1.0, 1.0, 0.50000000000000178611, 0.16666666666666163365, 0.041666666666491384229,
                       0.0083333333335612147595, 0.0013888888951595807097, 0.00019841269429972956357,
                       0.00002480148612078742005, 2.7557623959998973639e-6, 2.7632442279099922323e-7,
                       2.4994121758654478603e-8);
  }
  // Adds the integer to the exponent.
  const auto exponent = hn::ShiftLeft < kIsFloat<T> ? 23 : 52 > (hn::BitCast(integers, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(integers, power), exponent));
}

template <class D>
HWY_INLINE hn::Vec<D> exponential(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kExpNormal<T>))))) return normalExponential(d, x);
  const auto high = hn::Set(d, kExpHigh<T>);
  const auto low = hn::Set(d, kExpLow<T>);
  const auto result = hn::Exp(d, hn::Min(hn::Max(x, low), high));
  const auto bounded = hn::IfThenElse(hn::Gt(x, high), hn::Set(d, kInfinity<T>), result);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(hn::Lt(x, low), bounded));
}

// Returns e to the x, minus 1.
template <class D>
HWY_INLINE hn::Vec<D> exponentialLessOne(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto high = hn::Set(d, kExpHigh<T>);
  const auto low = hn::Set(d, T(-100));
  const auto result = hn::Expm1(d, hn::Min(hn::Max(x, low), high));
  const auto bounded = hn::IfThenElse(hn::Gt(x, high), hn::Set(d, kInfinity<T>), result);
  // For x this small, the result is x, including its sign.
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, kIsFloat<T> ? T(1e-8) : T(1e-17)));
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), tiny), x, bounded);
}

// Returns [result] where x is positive and finite, else the logarithm's value for such an x.
template <class D>
HWY_INLINE hn::Vec<D> boundLogarithm(D d, hn::Vec<D> x, hn::Vec<D> result) {
  using T = hn::TFromD<D>;
  const auto zero = hn::Zero(d);
  const auto infinity = hn::Set(d, kInfinity<T>);
  const auto positive = hn::IfThenElse(hn::Lt(x, infinity), result, x);
  const auto other = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), hn::Set(d, kNan<T>));
  return hn::IfThenElse(hn::Gt(x, zero), positive, other);
}

template <class D>
HWY_INLINE hn::Vec<D> logarithm(D d, hn::Vec<D> x) {
  return boundLogarithm(d, x, hn::Log(d, x));
}

// log(1 + x)
template <class D>
HWY_INLINE hn::Vec<D> logarithmOfOneMore(D d, hn::Vec<D> x) {
  const auto sum = hn::Add(x, hn::Set(d, hn::TFromD<D>(1)));
  return boundLogarithm(d, sum, hn::Log1p(d, x));
}

// 1 / (1 + e to the -x)
template <class D>
HWY_INLINE hn::Vec<D> logistic(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, hn::TFromD<D>(1));
  return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(x))));
}

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
