#include <boxcar/backends/cpu/vector_softmax.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/softmax.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/softmax-inl.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

// Rows with infinite or NaN elements need no special case: infinity minus itself is NaN, and so is the sum.
template <class T>
void softmaxRow(const T* in, T* out, size_t n) {
  const hn::ScalableTag<T> d;
  const auto shift = hn::Set(d, greatestOf(in, n));
  auto total = hn::Zero(d);
  forVectors(in, n, [&](auto x, size_t i, size_t count) HWY_ATTR {
    const auto y = expBelowOne(d, hn::Sub(x, shift));
    total = hn::Add(total, y);
    storeSome(d, y, out + i, count);
  });
  const T scale = T(1) / hn::GetLane(hn::SumOfLanes(d, total));
  const auto scales = hn::Set(d, scale);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, out + i), scales), d, out + i);
  for (; i < n; ++i) out[i] *= scale;
}

template <class T>
void logSoftmaxRow(const T* in, T* out, size_t n) {
  const hn::ScalableTag<T> d;
  const T greatest = greatestOf(in, n);
  const auto shift = hn::Set(d, greatest);
  auto total = hn::Zero(d);
  forVectors(in, n,
             [&](auto x, size_t, size_t) HWY_ATTR { total = hn::Add(total, expBelowOne(d, hn::Sub(x, shift))); });
  const T logarithm = std::log(hn::GetLane(hn::SumOfLanes(d, total)));
  const auto second = hn::Set(d, logarithm);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, in + i), shift), second), d, out + i);
  for (; i < n; ++i) out[i] = in[i] - greatest - logarithm;
}

template <class T>
void exponentialsRow(const T* in, const T* shift, T* out, T* sum, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const hn::CappedTag<T, 1> one;
  const auto take = [&](auto tag, size_t i) HWY_ATTR {
    const auto y = expBelowOne(tag, hn::Sub(hn::LoadU(tag, in + i), hn::LoadU(tag, shift + i)));
    if (out != nullptr) hn::StoreU(y, tag, out + i);
    hn::StoreU(hn::Add(hn::LoadU(tag, sum + i), y), tag, sum + i);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) take(d, i);
  for (; i < n; ++i) take(one, i);
}

template <class T>
constexpr SoftmaxRows<T> kSoftmaxRows = {softmaxRow<T>, logSoftmaxRow<T>, exponentialsRow<T>};

const SoftmaxRows<float>* floatRows() { return &kSoftmaxRows<float>; }
const SoftmaxRows<double>* doubleRows() { return &kSoftmaxRows<double>; }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_TABLES(SoftmaxRows, softmaxRows)

}  // namespace boxcar::cpu
#endif
