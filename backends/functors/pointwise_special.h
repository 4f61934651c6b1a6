#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

#include <limits>
#include <numbers>
#include <type_traits>

// The element functions of family "special" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Erf {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return erf(a); }
};

template <class T>
struct Erfc {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return erfc(a); }
};

// The x for which erf(x) is a: an initial guess, then steps of Halley's method, each of which triples the digits.
template <class T>
struct Erfinv {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    const double size = abs(static_cast<double>(a));
    if (!(size < 1))
      return size == 1 ? static_cast<T>(a * std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::quiet_NaN();
    if (size == 0) return a;
    constexpr double kShape = 0.147;
    const double logarithm = log1p(-size * size);
    const double middle = 2 / (std::numbers::pi * kShape) + logarithm / 2;
    double x = sqrt(sqrt(middle * middle - logarithm / kShape) - middle);
    for (int i = 0; i < 3; ++i) {
      // Where erf is close to 1, use the complement.
      const double error = size < 0.5 ? erf(x) - size : (1 - size) - erfc(x);
      const double step = error / (2 * std::numbers::inv_sqrtpi * exp(-x * x));
      x -= step / (1 + x * step);
    }
    return static_cast<T>(copysign(x, static_cast<double>(a)));
  }
};

template <class T>
struct Lgamma {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
#ifdef __CUDA_ARCH__
    return std::lgamma(a);
#else
    int sign;  // std::lgamma writes a global variable
    if constexpr (std::is_same_v<T, float>) {
      return ::lgammaf_r(a, &sign);
    } else {
      return ::lgamma_r(a, &sign);
    }
#endif
  }
};

// The derivative of Lgamma.
template <class T>
struct Digamma {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return static_cast<T>(digamma(static_cast<double>(a))); }

  BOXCAR_HOST_DEVICE static double digamma(double x) {
    if (x == 0) return copysign(std::numeric_limits<double>::infinity(), -x);
    if (x < 0) {
      const double whole = trunc(x);
      if (x == whole) return std::numeric_limits<double>::quiet_NaN();
      return digamma(1 - x) - std::numbers::pi / tan(std::numbers::pi * (x - whole));
    }
    double sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    // The asymptotic series; its coefficients are the Bernoulli numbers B(2n) / 2n.
    const double square = 1 / (x * x);
    double series = 0;
    for (const double term : {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12}) {
      series = term + square * series;
    }
    return sum + log(x) - 0.5 / x - (x < 1e17 ? square * series : 0);
  }
};

}  // namespace boxcar::functors
