#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace boxcar::interp {
namespace {

constexpr int64_t kExactInDouble = int64_t{1} << 53;

uint64_t magnitude(int64_t value) {
  return value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

int bitWidth(uint64_t value) { return static_cast<int>(std::bit_width(value)); }

// Divides [a] by [b] with at least 55 bits and a sticky last bit, so that the conversion to double rounds only once.
double divideLarge(int64_t a, int64_t b) {
  using Wide = unsigned __int128;
  const uint64_t dividend = magnitude(a);
  const uint64_t divisor = magnitude(b);
  if (dividend == 0) return 0;
  const int shift = std::max(0, 55 + bitWidth(divisor) - bitWidth(dividend));
  const Wide scaled = static_cast<Wide>(dividend) << shift;
  auto quotient = static_cast<uint64_t>(scaled / divisor);
  if (scaled % divisor != 0) quotient |= 1;
  const double result = std::ldexp(static_cast<double>(quotient), -shift);
  return (a < 0) != (b < 0) ? -result : result;
}

}  // namespace

void failIntDivision() { BOXCAR_FAIL("integer division or modulo by zero"); }

double divInt(int64_t a, int64_t b) {
  if (b == 0) [[unlikely]]
    BOXCAR_FAIL("division by zero");
  if (a <= kExactInDouble && a >= -kExactInDouble && b <= kExactInDouble && b >= -kExactInDouble) {
    return static_cast<double>(a) / static_cast<double>(b);
  }
  return divideLarge(a, b);
}

int64_t powInt(int64_t base, int64_t exponent) {
  BOXCAR_CHECK(exponent >= 0, "{} ** {}: an int to a negative power is not an int; write float({}) ** {}",
               base < 0 ? fmt::format("({})", base) : std::to_string(base), exponent, base, exponent);
  int64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = mulInt(result, base);
    base = mulInt(base, base);
  }
  return result;
}

int64_t shlInt(int64_t a, int64_t count) {
  BOXCAR_CHECK(count >= 0, "{} << {}: negative shift count", a, count);
  return count > 63 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << count);
}

int64_t shrInt(int64_t a, int64_t count) {
  BOXCAR_CHECK(count >= 0, "{} >> {}: negative shift count", a, count);
  return a >> (count > 63 ? 63 : count);
}

double divFloat(double a, double b) {
  if (b == 0) [[unlikely]]
    BOXCAR_FAIL("float division by zero");
  return a / b;
}

double modFloat(double a, double b) {
  if (b == 0) [[unlikely]]
    BOXCAR_FAIL("float modulo by zero");
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

double floorDivFloat(double a, double b) {
  if (b == 0) [[unlikely]]
    BOXCAR_FAIL("float floor division by zero");
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

double powFloat(double base, double exponent) {
  BOXCAR_CHECK(base != 0 || !(exponent < 0), "0.0 cannot be raised to a negative power");
  const double result = std::pow(base, exponent);
  if (!std::isfinite(result)) [[unlikely]] {
    BOXCAR_CHECK(!(std::isnan(result) && base < 0 && std::isfinite(base) && std::isfinite(exponent)),
                 "({}) ** {} is complex; write ({} + 0j) ** {}", pythonFloat(base), pythonFloat(exponent),
                 pythonFloat(base), pythonFloat(exponent));
    BOXCAR_CHECK(!(std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)),
                 "{} ** {} is too large for a float",
                 base < 0 ? fmt::format("({})", pythonFloat(base)) : pythonFloat(base), pythonFloat(exponent));
  }
  return result;
}

int64_t floatToInt(double value) {
  BOXCAR_CHECK(!std::isnan(value), "cannot convert float nan to int");
  BOXCAR_CHECK(!std::isinf(value), "cannot convert float infinity to int");
  BOXCAR_CHECK(value >= -0x1p63 && value < 0x1p63, "{} does not fit an int of 64 bits", pythonFloat(value));
  return static_cast<int64_t>(value);
}

int compareIntFloat(int64_t a, double b) noexcept {
  if (std::isnan(b)) return 2;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const double floored = std::floor(b);
  const auto whole = static_cast<int64_t>(floored);
  if (a != whole) return a < whole ? -1 : 1;
  return floored < b ? -1 : 0;
}

}  // namespace boxcar::interp
