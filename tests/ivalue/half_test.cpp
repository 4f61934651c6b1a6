#include <boxcar/ivalue/half.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace boxcar {
namespace {

// Returns the value of a small float with [mantissa_bits] and exponent bias [bias], by definition.
double slowDecode(uint16_t bits, int mantissa_bits, int bias) {
  const int exponent_mask = (1 << (15 - mantissa_bits)) - 1;
  const int exponent = (bits >> mantissa_bits) & exponent_mask;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == exponent_mask) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

// Returns the nearest of all values, ties to the even mantissa: bisects the positive ones.
template <class T>
uint16_t slowEncode(float value, int mantissa_bits, int bias) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(value));
  const uint16_t infinity = std::numeric_limits<T>::infinity().bits;
  uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (slowDecode(middle, mantissa_bits, bias) <= magnitude ? low : high) = middle;
  }
  // For rounding, infinity counts as the power of two above the largest value.
  const double below = slowDecode(low, mantissa_bits, bias);
  const double above = high == infinity ? std::ldexp(1.0, bias + 1) : slowDecode(high, mantissa_bits, bias);
  const double to_below = magnitude - below, to_above = above - magnitude;
  const bool up = to_above < to_below || (to_above == to_below && low % 2 == 1);
  return sign | (up ? high : low);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int mantissa_bits = 10, bias = 15;
};
template <>
struct Format<BFloat16> {
  static constexpr int mantissa_bits = 7, bias = 127;
};

template <class T>
class SmallFloat : public testing::Test {};
using SmallFloats = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(SmallFloat, SmallFloats);

TYPED_TEST(SmallFloat, EveryValueDecodesAndRoundTrips) {
  using F = Format<TypeParam>;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam value(static_cast<uint16_t>(bits), TypeParam::from_bits());
    const double expected = slowDecode(static_cast<uint16_t>(bits), F::mantissa_bits, F::bias);
    const float decoded = value;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(decoded)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(decoded)))) << bits;
      ASSERT_EQ(std::signbit(decoded), (bits & 0x8000) != 0) << bits;
      continue;
    }
    ASSERT_EQ(decoded, expected) << bits;
    ASSERT_EQ(std::signbit(decoded), std::signbit(expected)) << bits;
    ASSERT_EQ(TypeParam(decoded).bits, bits);
  }
}

TYPED_TEST(SmallFloat, RoundsToNearestEven) {
  using F = Format<TypeParam>;
  const auto check = [](float value) {
    ASSERT_EQ(TypeParam(value).bits, slowEncode<TypeParam>(value, F::mantissa_bits, F::bias)) << value;
  };
  // Each value, the midpoint to the next one, and a float on either side of that midpoint.
  for (uint16_t bits = 0; bits < std::numeric_limits<TypeParam>::infinity().bits; ++bits) {
    const double here = slowDecode(bits, F::mantissa_bits, F::bias);
    const double next = slowDecode(bits + 1, F::mantissa_bits, F::bias);
    if (std::isinf(next)) break;
    const auto middle = static_cast<float>((here + next) / 2);
    for (const float value : {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, INFINITY)}) {
      check(value);
      check(-value);
    }
  }
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) check(value);
  }
}

TYPED_TEST(SmallFloat, OverflowsToInfinityFromHalfwayOn) {
  using F = Format<TypeParam>;
  const double largest = static_cast<float>(std::numeric_limits<TypeParam>::max());
  const double power = std::ldexp(1.0, F::bias + 1);
  const auto halfway = static_cast<float>((largest + power) / 2);
  EXPECT_EQ(TypeParam(std::nextafter(halfway, 0.0f)).bits, std::numeric_limits<TypeParam>::max().bits);
  EXPECT_EQ(TypeParam(halfway).bits, std::numeric_limits<TypeParam>::infinity().bits);
  EXPECT_EQ(TypeParam(-INFINITY).bits, std::numeric_limits<TypeParam>::infinity().bits | 0x8000);
}

TYPED_TEST(SmallFloat, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  using F = Format<TypeParam>;
  EXPECT_EQ(float(Limits::epsilon()), std::ldexp(1.0f, -F::mantissa_bits));
  EXPECT_EQ(float(Limits::min()), std::ldexp(1.0f, 1 - F::bias));
  EXPECT_EQ(float(Limits::denorm_min()), std::ldexp(1.0f, 1 - F::bias - F::mantissa_bits));
  EXPECT_EQ(float(Limits::max()),
            static_cast<float>((2 - std::ldexp(1.0, -F::mantissa_bits)) * std::ldexp(1.0, F::bias)));
  EXPECT_EQ(float(Limits::lowest()), -float(Limits::max()));
  EXPECT_TRUE(std::isinf(float(Limits::infinity())));
  EXPECT_TRUE(std::isnan(float(Limits::quiet_NaN())));
  EXPECT_TRUE(std::isnan(float(Limits::signaling_NaN())));
  EXPECT_EQ(float(Limits::round_error()), 0.5f);
  EXPECT_EQ(Limits::digits, F::mantissa_bits + 1);
  EXPECT_EQ(Limits::max_exponent, F::bias + 1);
  EXPECT_EQ(Limits::min_exponent, 2 - F::bias);
  EXPECT_EQ(std::pow(10.0, Limits::max_exponent10) <= float(Limits::max()), true);
  EXPECT_EQ(std::pow(10.0, Limits::max_exponent10 + 1) <= float(Limits::max()), false);
  EXPECT_EQ(std::pow(10.0, Limits::min_exponent10) >= float(Limits::min()), true);
  EXPECT_EQ(std::pow(10.0, Limits::min_exponent10 - 1) >= float(Limits::min()), false);
}

TYPED_TEST(SmallFloat, ComputesInFloat) {
  TypeParam value(1.5f);
  value += 2.0f;
  EXPECT_EQ(float(value), 3.5f);
  value *= 2.0f;
  value -= 1.0f;
  value /= 3.0f;
  EXPECT_EQ(float(value), 2.0f);
  EXPECT_EQ(value + value, 4.0f);
  EXPECT_TRUE(value == TypeParam(2.0f));
  static_assert(float(TypeParam(-0.25f)) == -0.25f);
}

}  // namespace
}  // namespace boxcar
