#include <boxcar/backends/cpu/vector_attention.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/attention.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/softmax-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

struct AddToScore {
  template <class D, class V>
  HWY_INLINE V operator()(D, V score, V mask) const {
    return hn::Add(score, mask);
  }
};

template <class T>
void addToScores(T* scores, const T* mask, size_t moves, size_t n) {
  mapPairs(scores, 1, mask, moves, scores, n, AddToScore());
}

template <class T>
T greatestScore(const T* scores, size_t n) {
  return greatestOf(scores, n);
}

template <class T>
T exponentialsOfScores(T* scores, T shift, size_t n) {
  const hn::ScalableTag<T> d;
  const auto shifts = hn::Set(d, shift);
  auto total = hn::Zero(d);
  forVectors(scores, n, [&](auto x, size_t i, size_t count) HWY_ATTR {
    const auto y = expBelowOne(d, hn::Sub(x, shifts));
    total = hn::Add(total, y);
    storeSome(d, y, scores + i, count);
  });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// A sum of exponentials that belongs to other scores can be too small.
template <class T>
void gradientsOfScores(T* scores, T* gradients, T shift, T share, T scale, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto shifts = hn::Set(d, shift);
  const auto shares = hn::Set(d, share);
  const auto scales = hn::Set(d, scale);
  const auto most = hn::Set(d, kIsFloat<T> ? T(88) : T(709));
  HWY_ALIGN T rest[2][hn::MaxLanes(d)] = {};
  size_t left = n;
  const auto take = [&](T* weight, T* gradient) HWY_ATTR {
    const auto x = hn::Sub(hn::LoadU(d, weight), shifts);
    const auto too_large = hn::Gt(x, most);
    const auto y = hn::IfThenElse(too_large, hn::Set(d, kInfinity<T>), expBelowOne(d, x));
    const auto g = hn::Mul(hn::Mul(hn::Sub(hn::LoadU(d, gradient), shares), y), scales);
    hn::StoreU(y, d, weight);
    hn::StoreU(g, d, gradient);
  };
  for (; left >= lanes; left -= lanes, scores += lanes, gradients += lanes) take(scores, gradients);
  if (left == 0) return;
  std::copy_n(scores, left, rest[0]);
  std::copy_n(gradients, left, rest[1]);
  take(rest[0], rest[1]);
  std::copy_n(rest[0], left, scores);
  std::copy_n(rest[1], left, gradients);
}

template <class T>
constexpr AttentionRows<T> kAttentionRows = {addToScores<T>, greatestScore<T>, exponentialsOfScores<T>,
                                             gradientsOfScores<T>};

const AttentionRows<float>* floatRows() { return &kAttentionRows<float>; }
const AttentionRows<double>* doubleRows() { return &kAttentionRows<double>; }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_TABLES(AttentionRows, attentionRows)

}  // namespace boxcar::cpu
#endif
