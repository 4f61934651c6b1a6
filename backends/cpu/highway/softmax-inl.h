// What the vector functions of softmax and attention share.
// No #pragma once: Highway includes it once for every kind of vector.
#if defined(BOXCAR_HIGHWAY_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BOXCAR_HIGHWAY_SOFTMAX_INL_H_
#undef BOXCAR_HIGHWAY_SOFTMAX_INL_H_
#else
#define BOXCAR_HIGHWAY_SOFTMAX_INL_H_
#endif

#include <boxcar/backends/cpu/highway/rows-inl.h>
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {

// Returns the maximum. If there is a NaN, the result depends on its position.
template <class T>
HWY_INLINE T greatestOf(const T* in, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Set(d, -kInfinity<T>);
  auto b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, in + i));
    b = hn::Max(b, hn::LoadU(d, in + i + lanes));
  }
  T greatest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < n; ++i) greatest = in[i] > greatest ? in[i] : greatest;
  return greatest;
}

// Calls take(x, i, count) for vectors of the [n] elements at [in]; the last one is padded with minus infinity, whose
// exponential is 0.
template <class T, class Take>
HWY_INLINE void forVectors(const T* in, size_t n, const Take& take) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) take(hn::LoadU(d, in + i), i, lanes);
  if (i == n) return;
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  std::fill_n(rest, lanes, -kInfinity<T>);
  std::copy(in + i, in + n, rest);
  take(hn::Load(d, rest), i, n - i);
}

template <class T, class D, class V>
HWY_INLINE void storeSome(D d, V x, T* out, size_t count) {
  if (count == hn::Lanes(d)) return hn::StoreU(x, d, out);
  HWY_ALIGN T rest[hn::MaxLanes(d)];
  hn::Store(x, d, rest);
  std::copy_n(rest, count, out);
}

// Returns exp(x) of floats not above 0; NaN stays NaN. With x = q ln(2) + r, exp(x) is a polynomial for exp(r) times
// 2^q. Results below the smallest normal number are flushed to 0.
template <class D, class V>
HWY_INLINE V expOfFloats(D d, V x) {
  const hn::RebindToUnsigned<D> bits;
  // Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits.
  const V round = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), round);
  const V q = hn::Sub(shifted, round);
  const V rest = hn::NegMulAdd(q, hn::Set(d, 0.693359375f), x);
  const V r = hn::NegMulAdd(q, hn::Set(d, -2.12194440e-4f), rest);
  V p = hn::MulAdd(r, hn::Set(d, 1.9875691500e-4f), hn::Set(d, 1.3981999507e-3f));
  p = hn::MulAdd(r, p, hn::Set(d, 8.3334519073e-3f));
  p = hn::MulAdd(r, p, hn::Set(d, 4.1665795894e-2f));
  p = hn::MulAdd(r, p, hn::Set(d, 1.6666665459e-1f));
  p = hn::MulAdd(r, p, hn::Set(d, 5.0000001201e-1f));
  p = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), hn::Set(d, 1.0f));
  const auto power = hn::Add(hn::ShiftLeft<23>(hn::BitCast(bits, shifted)), hn::Set(bits, 127u << 23));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.336544f)), hn::Mul(p, hn::BitCast(d, power)));
}

// Returns the same for floats and doubles. Highway's Exp, used for doubles, accepts any number but turns NaN into 0.
template <class D, class V>
HWY_INLINE V expBelowOne(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    return expOfFloats(d, x);
  } else {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, x));
  }
}

}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
