#pragma once

// Python's arithmetic on 64-bit ints, which wrap around, and on floats. Error messages are Python's.

#include <cstdint>
#include <cstdlib>

namespace boxcar::interp {

constexpr int64_t addInt(int64_t a, int64_t b) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t subInt(int64_t a, int64_t b) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t mulInt(int64_t a, int64_t b) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr int64_t negInt(int64_t a) noexcept { return subInt(0, a); }

[[noreturn, gnu::cold]] void failIntDivision();

// Rounds towards negative infinity; the least int divided by -1 wraps around.
inline int64_t floorDivInt(int64_t a, int64_t b) {
  if (static_cast<uint64_t>(b) + 1 <= 1) [[unlikely]] {
    if (b == 0) failIntDivision();
    return negInt(a);
  }
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && ((a ^ b) < 0));
}

// The remainder has the sign of [b].
inline int64_t modInt(int64_t a, int64_t b) {
  if (static_cast<uint64_t>(b) + 1 <= 1) [[unlikely]] {
    if (b == 0) failIntDivision();
    return 0;
  }
  const int64_t rest = a % b;
  return rest != 0 && (rest ^ b) < 0 ? rest + b : rest;
}

// Returns the quotient, correctly rounded.
double divInt(int64_t a, int64_t b);
// Throws Error if [exponent] is negative.
int64_t powInt(int64_t base, int64_t exponent);
// Both throw Error if [count] is negative.
int64_t shlInt(int64_t a, int64_t count);
int64_t shrInt(int64_t a, int64_t count);

double divFloat(double a, double b);
double floorDivFloat(double a, double b);
double modFloat(double a, double b);
// Throws Error if the result would be complex or too large.
double powFloat(double base, double exponent);
// Returns the integral part; throws Error for nan, inf and values that do not fit.
int64_t floatToInt(double value);

// Compares exactly, whatever the sizes of the numbers: -1, 0, 1, or 2 if [b] is nan.
int compareIntFloat(int64_t a, double b) noexcept;

}  // namespace boxcar::interp
