#include <boxcar/backends/cpu/vector_moments.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boxcar/backends/cpu/highway/moments.cpp"
#include <hwy/foreach_target.h>
// These headers must follow foreach_target.h.
#include <boxcar/backends/cpu/highway/rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace boxcar::cpu::HWY_NAMESPACE {
namespace {

template <class T>
Deviations<T> sumRow(const T* in, size_t n, T shift) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto center = hn::Set(d, shift);
  auto sum0 = hn::Zero(d);
  auto sum1 = sum0;
  auto squares0 = sum0;
  auto squares1 = sum0;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto x0 = hn::Sub(hn::LoadU(d, in + i), center);
    const auto x1 = hn::Sub(hn::LoadU(d, in + i + lanes), center);
    sum0 = hn::Add(sum0, x0);
    sum1 = hn::Add(sum1, x1);
    squares0 = hn::MulAdd(x0, x0, squares0);
    squares1 = hn::MulAdd(x1, x1, squares1);
  }
  Deviations<T> result{hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1))),
                       hn::GetLane(hn::SumOfLanes(d, hn::Add(squares0, squares1)))};
  for (; i < n; ++i) {
    const T x = in[i] - shift;
    result.sum += x;
    result.squares += x * x;
  }
  return result;
}

Deviations<float> sumFloats(const float* in, size_t n, float shift) { return sumRow(in, n, shift); }
Deviations<double> sumDoubles(const double* in, size_t n, double shift) { return sumRow(in, n, shift); }

}  // namespace
}  // namespace boxcar::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boxcar::cpu {

BOXCAR_VECTOR_EXPORT(sumFloats);
BOXCAR_VECTOR_EXPORT(sumDoubles);

template <>
Deviations<float> sumDeviations<float>(const float* in, size_t n, float shift) {
  return BOXCAR_VECTOR_CALL(sumFloats)(in, n, shift);
}
template <>
Deviations<double> sumDeviations<double>(const double* in, size_t n, double shift) {
  return BOXCAR_VECTOR_CALL(sumDoubles)(in, n, shift);
}

}  // namespace boxcar::cpu
#endif
