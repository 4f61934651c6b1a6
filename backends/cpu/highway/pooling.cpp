#include <boxcar/backends/cpu/vector_pooling.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/pooling.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

// The greatest elements so far of as many channels as a vector has lanes, and their places.
template <class D>
struct GreatestChannels {
  using Places = hn::Rebind<int32_t, D>;

  GreatestChannels(D d, const float* in, const WindowTap& tap)
      : value(hn::LoadU(d, in + tap.offset)), place(hn::Set(Places(), tap.place)) {}

  void meet(D d, const float* in, const WindowTap& tap) {
    const auto element = hn::LoadU(d, in + tap.offset);
    const auto takes = hn::Or(hn::Gt(element, value), hn::IsNaN(element));
    value = hn::IfThenElse(takes, element, value);
    place = hn::IfThenElse(hn::RebindMask(Places(), takes), hn::Set(Places(), tap.place), place);
  }

  void write(D d, int64_t first, float* out, int64_t* indices) const {
    hn::StoreU(value, d, out);
    HWY_ALIGN int32_t places[hn::MaxLanes(Places())];
    hn::Store(place, Places(), places);
    const hn::ScalableTag<int64_t> wide;
    if constexpr (hn::MaxLanes(d) == 1) {
      indices[0] = first + places[0];
    } else {
      const hn::Rebind<int32_t, hn::ScalableTag<int64_t>> narrow;
      for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(wide)) {
        hn::StoreU(hn::Add(hn::PromoteTo(wide, hn::LoadU(narrow, places + i)), hn::Set(wide, first)), wide,
                   indices + i);
      }
    }
  }

  hn::Vec<D> value;
  hn::Vec<Places> place;
};

void greatestTaps(const float* in, const WindowTap* taps, size_t count, size_t n, int64_t first, float* out,
                  int64_t* indices) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    GreatestChannels a(d, in + i, taps[0]);
    GreatestChannels b(d, in + i + lanes, taps[0]);
    for (size_t k = 1; k < count; ++k) {
      a.meet(d, in + i, taps[k]);
      b.meet(d, in + i + lanes, taps[k]);
    }
    a.write(d, first, out + i, indices + i);
    b.write(d, first, out + i + lanes, indices + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) {
    GreatestChannels a(d, in + i, taps[0]);
    for (size_t k = 1; k < count; ++k) a.meet(d, in + i, taps[k]);
    a.write(d, first, out + i, indices + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < n; ++i) {
    GreatestChannels a(one, in + i, taps[0]);
    for (size_t k = 1; k < count; ++k) a.meet(one, in + i, taps[k]);
    a.write(one, first, out + i, indices + i);
  }
}

template <class D>
HWY_INLINE void divideSums(D d, const float* in, int64_t step, int64_t rows, float divisor, float* out) {
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < rows; ++k) sum = hn::Add(sum, hn::LoadU(d, in + k * step));
  hn::StoreU(divisor == 1 ? sum : hn::Div(sum, hn::Set(d, divisor)), d, out);
}

void divideSumsOf(const float* in, int64_t step, int64_t rows, size_t n, float divisor, float* out) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) divideSums(d, in + i, step, rows, divisor, out + i);
  for (; i < n; ++i) divideSums(one, in + i, step, rows, divisor, out + i);
}

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_EXPORT(greatestTaps);
BOXCAR_VECTOR_EXPORT(divideSumsOf);

void greatestOfTaps(const float* in, const WindowTap* taps, size_t count, size_t n, int64_t first, float* out,
                    int64_t* indices) {
  BOXCAR_VECTOR_CALL(greatestTaps)(in, taps, count, n, first, out, indices);
}

void divideSumsOfRows(const float* in, int64_t step, int64_t rows, size_t n, float divisor, float* out) {
  BOXCAR_VECTOR_CALL(divideSumsOf)(in, step, rows, n, divisor, out);
}

}  // namespace boxcar::cpu
#endif
