#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/complex_logarithms.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/tensor.h>

#include <numbers>
#include <type_traits>

// The element functions of family "binary" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Copysign {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return copysign(a, b); }
};

template <class T>
struct Atan2 {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return atan2(a, b); }
};

template <class T>
struct Hypot {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return hypot(a, b); }
};

template <class T>
struct Nextafter {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return nextafter(a, b); }
};

// Returns the absolute value; the minimum has none that fits and stays as it is.
template <class T>
BOXCAR_HOST_DEVICE T magnitude(T a) {
  return a < 0 ? subtractElements(T(0), a) : a;
}

template <class T>
BOXCAR_HOST_DEVICE T greatestDivisor(T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned x = static_cast<Unsigned>(magnitude(a));
  Unsigned y = static_cast<Unsigned>(magnitude(b));
  while (x != 0) {
    const Unsigned rest = static_cast<Unsigned>(y % x);
    y = x;
    x = rest;
  }
  return static_cast<T>(y);
}

template <class T>
struct Gcd {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return greatestDivisor(a, b); }
};

template <class T>
struct Lcm {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    const T divisor = greatestDivisor(a, b);
    if (divisor == 0) return 0;
    // Small integers are multiplied in 32 bits and truncated at the end.
    using Wide = std::conditional_t<(sizeof(T) < 4), int32_t, T>;
    return static_cast<T>(
        magnitude(multiplyElements(static_cast<Wide>(truncatedQuotient(a, divisor)), static_cast<Wide>(b))));
  }
};

template <class T>
struct Heaviside {
  static constexpr bool kExactOutput = true;
  static void check(const Tensor& self, const Tensor& values) {
    BOXCAR_CHECK(!self.is_complex() && !values.is_complex(), "heaviside is not yet implemented for complex tensors.");
    BOXCAR_CHECK(self.scalar_type() == values.scalar_type(),
                 "heaviside is not yet implemented for tensors with different dtypes, here {} and {}.",
                 self.scalar_type(), values.scalar_type());
  }
  BOXCAR_HOST_DEVICE T operator()(T a, T value) const { return a == T(0) ? value : static_cast<T>(a > T(0)); }
};

// log(exp(a) + exp(b)), relative to the larger of the two to avoid overflow.
template <class T>
struct Logaddexp {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (kIsComplex<T>) {
      return logAddExpOfComplex(a, b);
    } else {
      if (isinf(a) && a == b) return a;
      const T larger = a > b || isNan(a) ? a : b;
      return larger + log1p(exp(-abs(a - b)));
    }
  }
};

template <class T>
struct Logaddexp2 {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if (isinf(a) && a == b) return a;
    const T larger = a > b || isNan(a) ? a : b;
    return larger + log1p(exp2(-abs(a - b))) * std::numbers::log2e_v<T>;
  }
};

template <class T>
struct Xlogy {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if (isNan(b)) return b;
    return a == T(0) ? T(0) : a * log(b);
  }
};

}  // namespace boxcar::functors
