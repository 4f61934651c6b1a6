#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace boxcar::functors {

// Arithmetic in the compute types of elements. Integers wrap; bools add as `or` and multiply as `and`.
template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

namespace detail {
template <class T>
using Unsigned = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;
}

template <class T>
BOXCAR_HOST_DEVICE inline T addElements(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a || b;
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<detail::Unsigned<T>>(a) + static_cast<detail::Unsigned<T>>(b));
  }
  return static_cast<T>(a + b);
}

template <class T>
BOXCAR_HOST_DEVICE inline T subtractElements(T a, T b) {
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<detail::Unsigned<T>>(a) - static_cast<detail::Unsigned<T>>(b));
  }
  return static_cast<T>(a - b);
}

template <class T>
BOXCAR_HOST_DEVICE inline T multiplyElements(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) return a && b;
  if constexpr (kIsInteger<T>) {
    return static_cast<T>(static_cast<detail::Unsigned<T>>(a) * static_cast<detail::Unsigned<T>>(b));
  } else if constexpr (kIsComplex<T>) {
    // Like PyTorch, without the standard's special treatment of infinite parts.
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  } else {
    return static_cast<T>(a * b);
  }
}

// Division of floats and complex numbers. Complex division uses Smith's algorithm, which overflows only if the result
// does.
template <class T>
BOXCAR_HOST_DEVICE inline T divideElements(T a, T b) {
  if constexpr (kIsComplex<T>) {
    const auto c = b.real();
    const auto d = b.imag();
    if (abs(c) >= abs(d)) {
      const auto ratio = d / c;
      const auto scale = c + d * ratio;
      return T((a.real() + a.imag() * ratio) / scale, (a.imag() - a.real() * ratio) / scale);
    }
    const auto ratio = c / d;
    const auto scale = c * ratio + d;
    return T((a.real() * ratio + a.imag()) / scale, (a.imag() * ratio - a.real()) / scale);
  } else {
    return a / b;
  }
}

template <class T>
BOXCAR_HOST_DEVICE inline bool isNan(T value) {
  if constexpr (kIsComplex<T>) {
    return std::isnan(value.real()) || std::isnan(value.imag());
  } else if constexpr (std::is_floating_point_v<T>) {
    return value != value;  // NOLINT(misc-redundant-expression): NaN alone
  } else if constexpr (kIsSmallFloat<T>) {
    return isNan(static_cast<float>(value));
  } else {
    return false;
  }
}

template <class T>
BOXCAR_HOST_DEVICE inline void checkDivisor(T divisor) {
  if constexpr (kIsInteger<T>) BOXCAR_HOST_CHECK(divisor != 0, "ZeroDivisionError");
}

// Returns the quotient rounded toward zero.
template <class T>
BOXCAR_HOST_DEVICE inline T truncatedQuotient(T a, T b) {
  if constexpr (kIsInteger<T>) {
    checkDivisor(b);
    // The only quotient that does not fit wraps.
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return subtractElements(T(0), a);
    }
    return static_cast<T>(a / b);
  } else {
    return trunc(a / b);
  }
}

// Returns the remainder of floor division, which has the sign of [b].
template <class T>
BOXCAR_HOST_DEVICE inline T flooredRemainder(T a, T b) {
  if constexpr (kIsInteger<T>) {
    checkDivisor(b);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    const T rest = static_cast<T>(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  } else {
    const T rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
}

// Returns the quotient rounded down. For floats it is the one for which quotient * b + remainder is closest to a, as in
// Python.
template <class T>
BOXCAR_HOST_DEVICE inline T flooredQuotient(T a, T b) {
  if constexpr (kIsInteger<T>) {
    const T quotient = truncatedQuotient(a, b);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return quotient;
      return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
    }
    return quotient;
  } else {
    if (b == 0) return a / b;
    const T rest = fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return copysign(T(0), a / b);
    const T floored = floor(quotient);
    return quotient - floored > T(0.5) ? floored + 1 : floored;
  }
}

template <class T>
BOXCAR_HOST_DEVICE inline T power(T base, T exponent) {
  if constexpr (kIsInteger<T>) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (base != static_cast<T>(-1)) return 0;
      return exponent % 2 == 0 ? T(1) : base;
    }
    T result = 1;
    for (; exponent != 0; exponent = static_cast<T>(exponent / 2)) {
      if (exponent % 2 != 0) result = multiplyElements(result, base);
      base = multiplyElements(base, base);
    }
    return result;
  } else {
    return pow(base, exponent);
  }
}

}  // namespace boxcar::functors
