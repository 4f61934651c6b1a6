#include <boxcar/backends/cpu/vector_normalization.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/normalization.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

// Calls take(tag, i) for the whole vectors of [n] elements, then for each remaining element.
template <class T, class Take>
HWY_INLINE void forIndices(size_t n, const Take& take) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) take(d, i);
  for (; i < n; ++i) take(one, i);
}

template <bool has_weight, bool has_bias, class T>
HWY_INLINE void normalize(const T* in, T* out, size_t n, T mean, T scale, const T* weight, const T* bias) {
  forIndices<T>(n, [=](auto d, size_t i) HWY_ATTR {
    auto x = hn::Mul(hn::Sub(hn::LoadU(d, in + i), hn::Set(d, mean)), hn::Set(d, scale));
    if constexpr (has_weight && has_bias) {
      x = hn::MulAdd(x, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i));
    } else if constexpr (has_weight) {
      x = hn::Mul(x, hn::LoadU(d, weight + i));
    } else if constexpr (has_bias) {
      x = hn::Add(x, hn::LoadU(d, bias + i));
    }
    hn::StoreU(x, d, out + i);
  });
}

template <class T>
void normalizeRow(const T* in, T* out, size_t n, T mean, T scale, const T* weight, const T* bias) {
  if (weight != nullptr && bias != nullptr) return normalize<true, true>(in, out, n, mean, scale, weight, bias);
  if (weight != nullptr) return normalize<true, false>(in, out, n, mean, scale, weight, bias);
  if (bias != nullptr) return normalize<false, true>(in, out, n, mean, scale, weight, bias);
  normalize<false, false>(in, out, n, mean, scale, weight, bias);
}

template <class T>
void scaleRow(const T* in, T* out, size_t n, T scale, T shift) {
  forIndices<T>(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, in + i), hn::Set(d, scale), hn::Set(d, shift)), d, out + i);
  });
}

template <class T>
void scaleColumnsRow(const T* in, T* out, size_t n, const T* scale, const T* shift) {
  forIndices<T>(n, [=](auto d, size_t i) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::LoadU(d, in + i), hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, out + i);
  });
}

template <class T>
void gradientSumsOfRow(const T* gradient, const T* in, const T* weight, size_t n, T mean, T* sums) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto means = hn::Set(d, mean);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  auto first_products = hn::Zero(d);
  auto second_products = hn::Zero(d);
  const auto weighted = [&](size_t i)
                            HWY_ATTR { return hn::Mul(hn::LoadU(d, gradient + i), hn::LoadU(d, weight + i)); };
  const auto moved = [&](size_t i) HWY_ATTR { return hn::Sub(hn::LoadU(d, in + i), means); };
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto a = weighted(i);
    const auto b = weighted(i + lanes);
    first = hn::Add(first, a);
    second = hn::Add(second, b);
    first_products = hn::MulAdd(a, moved(i), first_products);
    second_products = hn::MulAdd(b, moved(i + lanes), second_products);
  }
  sums[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  sums[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(first_products, second_products)));
  for (; i < n; ++i) {
    sums[0] += gradient[i] * weight[i];
    sums[1] += gradient[i] * weight[i] * (in[i] - mean);
  }
}

template <class T>
void inputGradientOfRow(const T* gradient, const T* in, const T* weight, T* out, size_t n, T mean, T scale, T shift,
                        T stretch) {
  forIndices<T>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto moved = hn::Sub(hn::LoadU(d, in + i), hn::Set(d, mean));
    const auto weighted = hn::MulSub(hn::LoadU(d, gradient + i), hn::LoadU(d, weight + i), hn::Set(d, shift));
    hn::StoreU(hn::Mul(hn::NegMulAdd(moved, hn::Set(d, stretch), weighted), hn::Set(d, scale)), d, out + i);
  });
}

template <class T>
void parameterGradientsOfRow(const T* gradient, const T* in, T* of_weight, T* of_bias, size_t n, T mean, T scale) {
  forIndices<T>(n, [=](auto d, size_t i) HWY_ATTR {
    const auto g = hn::LoadU(d, gradient + i);
    const auto x = hn::Mul(hn::Sub(hn::LoadU(d, in + i), hn::Set(d, mean)), hn::Set(d, scale));
    hn::StoreU(hn::MulAdd(g, x, hn::LoadU(d, of_weight + i)), d, of_weight + i);
    hn::StoreU(hn::Add(g, hn::LoadU(d, of_bias + i)), d, of_bias + i);
  });
}

template <class T>
constexpr NormalizationRows<T> kNormalizationRows = {normalizeRow<T>,       scaleRow<T>,
                                                     scaleColumnsRow<T>,    gradientSumsOfRow<T>,
                                                     inputGradientOfRow<T>, parameterGradientsOfRow<T>};

const NormalizationRows<float>* floatRows() { return &kNormalizationRows<float>; }
const NormalizationRows<double>* doubleRows() { return &kNormalizationRows<double>; }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_TABLES(NormalizationRows, normalizationRows)

}  // namespace boxcar::cpu
#endif
