#include <boxcar/backends/cpu/small_floats.h>
#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/ivalue/half.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/small_floats.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using SmallWords = hn::Rebind<uint16_t, Floats>;

// Calls [whole] for each full vector, by the index of its first element, and then [rest] for the elements from there.
template <class Whole, class Rest>
HWY_INLINE void forVectors(size_t n, const Whole& whole, const Rest& rest) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) whole(i);
  if (i < n) rest(i);
}

struct VectorBFloat16 {
  using Element = BFloat16;

  static HWY_INLINE hn::Vec<Words> roundedBits(hn::Vec<Floats> x) {
    const Words words;
    const auto bits = hn::BitCast(words, x);
    const auto last = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
    const auto rounded = hn::Add(bits, hn::Add(hn::Set(words, 0x7fff), last));
    return hn::IfThenElse(hn::RebindMask(words, hn::IsNaN(x)), hn::Or(bits, hn::Set(words, 0x400000)), rounded);
  }
  static HWY_INLINE hn::Vec<Floats> rounded(hn::Vec<Floats> x) {
    return hn::BitCast(Floats(), hn::And(roundedBits(x), hn::Set(Words(), 0xffff0000)));
  }
  static HWY_INLINE hn::Vec<Floats> widened(const uint16_t* from) {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::LoadU(SmallWords(), from))));
  }
  static HWY_INLINE void narrow(hn::Vec<Floats> x, uint16_t* to) {
    const hn::RebindToSigned<Floats> ints;
    hn::StoreU(hn::DemoteTo(SmallWords(), hn::BitCast(ints, hn::ShiftRight<16>(roundedBits(x)))), SmallWords(), to);
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
struct VectorHalf {
  using Element = Half;
  using Halves = hn::Rebind<hwy::float16_t, Floats>;

  static HWY_INLINE hn::Vec<Floats> rounded(hn::Vec<Floats> x) {
    return hn::PromoteTo(Floats(), hn::DemoteTo(Halves(), x));
  }
  static HWY_INLINE hn::Vec<Floats> widened(const uint16_t* from) {
    return hn::PromoteTo(Floats(), hn::BitCast(Halves(), hn::LoadU(SmallWords(), from)));
  }
  static HWY_INLINE void narrow(hn::Vec<Floats> x, uint16_t* to) {
    hn::StoreU(hn::BitCast(SmallWords(), hn::DemoteTo(Halves(), x)), SmallWords(), to);
  }
};
#endif

template <class V>
struct VectorSmallFloats {
  using Plain = PlainSmallFloats<typename V::Element>;

  static void widen(const void* in, float* out, size_t n) {
    const auto* const from = static_cast<const uint16_t*>(in);
    forVectors(
        n, [&](size_t i) HWY_ATTR { hn::StoreU(V::widened(from + i), Floats(), out + i); },
        [&](size_t i) { Plain::widen(from + i, out + i, n - i); });
  }
  static void narrow(const float* in, void* out, size_t n) {
    auto* const to = static_cast<uint16_t*>(out);
    forVectors(
        n, [&](size_t i) HWY_ATTR { V::narrow(hn::LoadU(Floats(), in + i), to + i); },
        [&](size_t i) { Plain::narrow(in + i, to + i, n - i); });
  }
  static void round(float* row, size_t n) {
    forVectors(
        n, [&](size_t i) HWY_ATTR { hn::StoreU(V::rounded(hn::LoadU(Floats(), row + i)), Floats(), row + i); },
        [&](size_t i) { Plain::round(row + i, n - i); });
  }
};

template <class R>
constexpr SmallFloatRows kSmallFloatRowsOf = {R::widen, R::narrow, R::round};

const SmallFloatRows* bfloat16Rows() { return &kSmallFloatRowsOf<VectorSmallFloats<VectorBFloat16>>; }

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
const SmallFloatRows* halfRows() { return &kSmallFloatRowsOf<VectorSmallFloats<VectorHalf>>; }
#else
// Vectors here have no conversion that rounds to nearest.
const SmallFloatRows* halfRows() { return &kSmallFloatRowsOf<PlainSmallFloats<Half>>; }
#endif

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_EXPORT(bfloat16Rows);
BOXCAR_VECTOR_EXPORT(halfRows);

const SmallFloatRows& smallFloatRows(ScalarType type) {
  return type == ScalarType::Half ? *BOXCAR_VECTOR_CALL(halfRows)() : *BOXCAR_VECTOR_CALL(bfloat16Rows)();
}

}  // namespace boxcar::cpu
#endif
