#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace boxcar {

namespace detail {

constexpr float halfBitsToFloat(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  if (exponent == 31) {
    // A signalling NaN becomes quiet, as with the F16C instruction.
    const uint32_t quiet = mantissa != 0 ? 0x400000 : 0;
    return std::bit_cast<float>(sign | 0x7f800000 | quiet | mantissa << 13);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

constexpr uint16_t floatToHalfBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  // From halfway between the largest half and the next power of two upward, the result is infinity.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // Subnormal: after adding 0.5, the last bit of the sum has the value of the result's last bit, so the addition
    // rounds.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000));
  }
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | (rounded - 0x38000000) >> 13);
}

constexpr uint16_t floatToBFloat16Bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace detail

// IEEE binary16. Arithmetic happens in float; conversion from float rounds to nearest even.
struct Half {
  struct FromBits {};
  static constexpr FromBits from_bits() { return {}; }

  Half() = default;
  constexpr Half(uint16_t raw, FromBits) : bits(raw) {}
  constexpr Half(float value) : bits(encode(value)) {}
  constexpr operator float() const { return decode(bits); }

  constexpr Half& operator+=(Half other) { return *this = Half(float(*this) + float(other)); }
  constexpr Half& operator-=(Half other) { return *this = Half(float(*this) - float(other)); }
  constexpr Half& operator*=(Half other) { return *this = Half(float(*this) * float(other)); }
  constexpr Half& operator/=(Half other) { return *this = Half(float(*this) / float(other)); }

  uint16_t bits;

 private:
  static constexpr uint16_t encode(float value) {
#ifdef __F16C__
    if (!std::is_constant_evaluated()) return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#endif
    return detail::floatToHalfBits(value);
  }
  static constexpr float decode(uint16_t bits) {
#ifdef __F16C__
    if (!std::is_constant_evaluated()) return _cvtsh_ss(bits);
#endif
    return detail::halfBitsToFloat(bits);
  }
};
static_assert(sizeof(Half) == 2);

// The upper half of a float. Arithmetic happens in float; conversion from float rounds to nearest even.
struct BFloat16 {
  struct FromBits {};
  static constexpr FromBits from_bits() { return {}; }

  BFloat16() = default;
  constexpr BFloat16(uint16_t raw, FromBits) : bits(raw) {}
  constexpr BFloat16(float value) : bits(detail::floatToBFloat16Bits(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

  constexpr BFloat16& operator+=(BFloat16 other) { return *this = BFloat16(float(*this) + float(other)); }
  constexpr BFloat16& operator-=(BFloat16 other) { return *this = BFloat16(float(*this) - float(other)); }
  constexpr BFloat16& operator*=(BFloat16 other) { return *this = BFloat16(float(*this) * float(other)); }
  constexpr BFloat16& operator/=(BFloat16 other) { return *this = BFloat16(float(*this) / float(other)); }

  uint16_t bits;
};
static_assert(sizeof(BFloat16) == 2);

namespace detail {

// The numeric_limits of both: [T] with [Digits] bits of significand and the given bit patterns.
template <class T, int Digits, int MinExponent, int MaxExponent, int Digits10, int MaxDigits10, uint16_t Min,
          uint16_t Max, uint16_t DenormMin, uint16_t Epsilon, uint16_t Infinity, uint16_t QuietNaN>
struct SmallFloatLimits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, has_denorm_loss = false;
  static constexpr std::float_denorm_style has_denorm = std::denorm_present;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false;
  static constexpr bool traps = false, tinyness_before = false;
  static constexpr int radix = 2, digits = Digits, digits10 = Digits10, max_digits10 = MaxDigits10;
  static constexpr int min_exponent = MinExponent, max_exponent = MaxExponent;
  static constexpr int min_exponent10 = (MinExponent - 1) * 30103 / 100000;
  static constexpr int max_exponent10 = MaxExponent * 30103 / 100000;

  static constexpr T of(uint16_t bits) { return T(bits, T::from_bits()); }
  static constexpr T min() { return of(Min); }
  static constexpr T max() { return of(Max); }
  static constexpr T lowest() { return of(Max | 0x8000); }
  static constexpr T denorm_min() { return of(DenormMin); }
  static constexpr T epsilon() { return of(Epsilon); }
  static constexpr T round_error() { return T(0.5f); }
  static constexpr T infinity() { return of(Infinity); }
  static constexpr T quiet_NaN() { return of(QuietNaN); }
  static constexpr T signaling_NaN() { return of(Infinity | 1); }
};

}  // namespace detail
}  // namespace boxcar

template <>
class std::numeric_limits<boxcar::Half>
    : public boxcar::detail::SmallFloatLimits<boxcar::Half, 11, -13, 16, 3, 5, 0x0400, 0x7bff, 0x0001, 0x1400, 0x7c00,
                                              0x7e00> {};

template <>
class std::numeric_limits<boxcar::BFloat16>
    : public boxcar::detail::SmallFloatLimits<boxcar::BFloat16, 8, -125, 128, 2, 4, 0x0080, 0x7f7f, 0x0001, 0x3c00,
                                              0x7f80, 0x7fc0> {};
