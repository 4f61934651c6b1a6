#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/backends/functors/parameters.h>
#include <boxcar/ivalue/scalar.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

// The element functions of family "rounding" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Neg {
  static constexpr std::string_view kBoolRefusal =
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
      "or "
      "`logical_not()` operator instead.";
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsInteger<T>) {
      return subtractElements(T(0), a);
    } else {
      return -a;  // changes the sign of zero too
    }
  }
};

template <class T>
struct Abs {
  BOXCAR_HOST_DEVICE RealOf<T> operator()(T a) const {
    if constexpr (kIsInteger<T>) {
      return a < 0 ? subtractElements(T(0), a) : a;
    } else {
      return abs(a);
    }
  }
};

// The sign; 0 for NaN, and the direction of a complex number.
template <class T>
struct Sgn {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return a == T(0) ? T(0) : a / abs(a);
    } else {
      return static_cast<T>((T(0) < a) - (a < T(0)));
    }
  }
};

// Integers are unchanged.
template <class T>
struct Floor {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return floor(a);
  }
};

template <class T>
struct Ceil {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return ceil(a);
  }
};

template <class T>
struct Trunc {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return trunc(a);
  }
};

// Rounds half to even.
template <class T>
struct Round {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return nearbyint(a);
  }
};

template <class T>
struct RoundDecimals {
  using Parameters = Arguments<int64_t>;
  bool before_point;
  T power;
  explicit RoundDecimals(const Scalar* params)
      : before_point(params->toLong() < 0), power(static_cast<T>(pow(10.0, abs(params->toDouble())))) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    return before_point ? nearbyint(a / power) * power : nearbyint(a * power) / power;
  }
};

template <class T>
struct Frac {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return a - trunc(a); }
};

// The replacements of NaN, infinity and negative infinity.
template <class T>
struct NanToNum {
  static constexpr bool kExactOutput = true;
  RealOf<T> nan, positive, negative;
  explicit NanToNum(const Scalar* params)
      : nan(convertElement<RealOf<T>>(params[0].toDouble())),
        positive(convertElement<RealOf<T>>(params[1].toDouble())),
        negative(convertElement<RealOf<T>>(params[2].toDouble())) {}
  BOXCAR_HOST_DEVICE RealOf<T> number(RealOf<T> a) const {
    if constexpr (std::is_floating_point_v<RealOf<T>>) {
      if (isNan(a)) return nan;
      if (a == std::numeric_limits<RealOf<T>>::infinity()) return positive;
      if (a == -std::numeric_limits<RealOf<T>>::infinity()) return negative;
    }
    return a;
  }
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return {number(a.real()), number(a.imag())};
    } else {
      return number(a);
    }
  }
};

}  // namespace boxcar::functors
