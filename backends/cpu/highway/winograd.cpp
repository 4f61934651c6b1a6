#include <boxcar/backends/cpu/vector_winograd.h>
#include <boxcar/backends/cpu/winograd_factors.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/winograd.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

// Returns the sum of the products with x, y and z; 0 is added first, so that no sum is -0.
template <class V>
HWY_INLINE V sumOfProducts(const float (&factors)[3], V x, V y, V z) {
  const hn::CappedTag<float, kWinogradChannels> d;
  const V first = hn::Add(hn::Zero(d), hn::Mul(hn::Set(d, factors[0]), x));
  return hn::Add(hn::Add(first, hn::Mul(hn::Set(d, factors[1]), y)), hn::Mul(hn::Set(d, factors[2]), z));
}

template <int size>
HWY_INLINE void transformTile(const float* taps, float* out, size_t step) {
  const hn::CappedTag<float, kWinogradChannels> d;
  using V = hn::Vec<decltype(d)>;
  const auto& g = kWinogradFactors<size>;
  for (size_t o = 0; o < kWinogradChannels; o += hn::Lanes(d)) {
    V rows[3][size];
    for (size_t k = 0; k < 3; ++k) {
      const float* const from = taps + 3 * k * kWinogradChannels + o;
      const V x = hn::Load(d, from);
      const V y = hn::Load(d, from + kWinogradChannels);
      const V z = hn::Load(d, from + 2 * kWinogradChannels);
      for (int j = 0; j < size; ++j) rows[k][j] = sumOfProducts(g[j], x, y, z);
    }
    float* to = out + o;
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j, to += step)
        hn::Store(sumOfProducts(g[i], rows[0][j], rows[1][j], rows[2][j]), d, to);
    }
  }
}

void transformTiles(WinogradTile tile, const float* taps, float* out, size_t step) {
  return tile == WinogradTile::k4x4 ? transformTile<4>(taps, out, step) : transformTile<6>(taps, out, step);
}

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_EXPORT(transformTiles);

void transformWinograd(WinogradTile tile, const float* taps, float* out, size_t step) {
  BOXCAR_VECTOR_CALL(transformTiles)(tile, taps, out, step);
}

}  // namespace boxcar::cpu
#endif
