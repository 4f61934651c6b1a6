#include <boxcar/backends/cpu/normal_block.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace boxcar::cpu {
namespace {

// Cephes' single-precision logarithm, sine and cosine, with the fused multiplications that bit-identical results need.
// Everything is inlined into makeNormal below, which is inlined into functions compiled with and without the fused
// instructions.

[[gnu::always_inline]] inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// Takes a normal number above 0.
[[gnu::always_inline]] inline float logarithm(float value) {
  constexpr float kCoefficients[] = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                                     -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                                     2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
  constexpr float kLog2Low = -2.12194440e-4f;
  constexpr float kLog2High = 0.693359375f;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  // In [0.5, 1), then around 1.
  const float mantissa = std::bit_cast<float>((bits & 0x7fffff) | 0x3f000000);
  const bool low = mantissa < 0.707106781186547524f;
  const float exponent = static_cast<float>(static_cast<int32_t>(bits >> 23) - 127) + 1.0f - (low ? 1.0f : 0.0f);
  const float x = (mantissa - 1.0f) + (low ? mantissa : 0.0f);
  const float square = x * x;
  float y = kCoefficients[0];
#pragma GCC unroll 8
  for (int i = 1; i < 9; ++i) y = fused(y, x, kCoefficients[i]);
  y = y * x;
  y = fused(y, square, exponent * kLog2Low);
  y = fused(-0.5f, square, y);
  return fused(exponent, kLog2High, x + y);
}

// Takes an angle in [0, 2 pi).
[[gnu::always_inline]] inline void sineAndCosine(float angle, float& sine, float& cosine) {
  // The octant of the angle, rounded up to an even number; the remainder is in [-pi/4, pi/4].
  const int32_t eighth = (static_cast<int32_t>(angle * 1.27323954473516f) + 1) & ~1;
  const float turns = static_cast<float>(eighth);
  float x = fused(turns, -0.78515625f, angle);
  x = fused(turns, -2.4187564849853515625e-4f, x);
  x = fused(turns, -3.77489497744594108e-8f, x);
  const float square = x * x;

  float by_cosine = fused(2.443315711809948E-005f, square, -1.388731625493765E-003f);
  by_cosine = fused(by_cosine, square, 4.166664568298827E-002f);
  by_cosine = by_cosine * square;
  by_cosine = fused(by_cosine, square, -(square * 0.5f)) + 1.0f;

  float by_sine = fused(-1.9515295891E-4f, square, 8.3321608736E-3f);
  by_sine = fused(by_sine, square, -1.6666654611E-1f);
  by_sine = by_sine * square;
  by_sine = fused(by_sine, x, x);

  const bool swapped = (eighth & 2) != 0;
  const float s = swapped ? by_cosine : by_sine;
  const float c = swapped ? by_sine : by_cosine;
  sine = (eighth & 4) != 0 ? -s : s;
  cosine = ((eighth - 2) & 4) == 0 ? -c : c;
}

[[gnu::always_inline]] inline void makeNormal(float* values, float mean, float std) {
  constexpr float kCircle = 2.0f * std::numbers::pi_v<float>;
#pragma GCC ivdep
  for (int i = 0; i < 8; ++i) {
    const float radius = __builtin_sqrtf(-2.0f * logarithm(1.0f - values[i]));
    float sine = 0;
    float cosine = 0;
    sineAndCosine(kCircle * values[i + 8], sine, cosine);
    values[i] = fused(radius * cosine, std, mean);
    values[i + 8] = fused(radius * sine, std, mean);
  }
}

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void makeNormalFused(float* values, float mean, float std) {
  makeNormal(values, mean, std);
}
#endif

}  // namespace

void makeNormalBlock(float* values, float mean, float std) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return makeNormalFused(values, mean, std);
#endif
  makeNormal(values, mean, std);
}

}  // namespace boxcar::cpu
