#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/scalar.h>

#include <cmath>
#include <cstdint>
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

// The sum of (k + q) ** -x over all k from 0.
template <class T>
struct Zeta {
  BOXCAR_HOST_DEVICE T operator()(T x, T q) const {
    return static_cast<T>(zeta(static_cast<double>(x), static_cast<double>(q)));
  }

  BOXCAR_HOST_DEVICE static double zeta(double x, double q) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (x == 1) return kInfinity;
    if (x < 1) return std::numeric_limits<double>::quiet_NaN();
    if (q <= 0) {
      if (q == floor(q)) return kInfinity;
      if (x != floor(x)) return std::numeric_limits<double>::quiet_NaN();
      // Many terms of negative numbers are the difference of two sums of positive ones.
      if (q < -100) {
        const double rest = q - floor(q);
        const double negative = sum(x, 1 - rest) - sum(x, 1 - q);
        return sum(x, rest) + (fmod(x, 2) == 0 ? negative : -negative);
      }
    }
    return sum(x, q);
  }

 private:
  // The first terms, and the Euler-Maclaurin formula for the others.
  BOXCAR_HOST_DEVICE static double sum(double x, double q) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
    double total = pow(q, -x);
    double last = 0;
    for (int i = 0; i < 9 || q <= 9; ++i) {
      q += 1;
      last = pow(q, -x);
      total += last;
      if (abs(last) < kEpsilon * abs(total)) return total;
    }
    total += last * q / (x - 1) - 0.5 * last;
    double product = 1;
    int k = 0;
    // (2j)! divided by the Bernoulli number B(2j)
    for (const double divisor :
         {12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000.0 / 691, 74724249600.0,
          -10670622842880000.0 / 3617, 5109094217170944000.0 / 43867, -802857662698291200000.0 / 174611}) {
      product *= x + k++;
      last /= q;
      const double term = product * last / divisor;
      total += term;
      if (abs(term) < kEpsilon * abs(total)) break;
      product *= x + k++;
      last /= q;
    }
    return total;
  }
};

// The derivative of order n of Digamma.
template <class T>
struct Polygamma {
  explicit Polygamma(const Scalar* params) : n(params->toLong()) {}
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    const double x = static_cast<double>(a);
    if (n == 0) return static_cast<T>(Digamma<double>::digamma(x));
    if (n == 1 && isinf(x)) return x > 0 ? T(0) : std::numeric_limits<T>::quiet_NaN();
    const double order = static_cast<double>(n);
    return static_cast<T>((n % 2 == 0 ? -1 : 1) * exp(Lgamma<double>{}(order + 1)) * Zeta<double>::zeta(order + 1, x));
  }

  int64_t n;
};

template <class T>
struct Entr {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if (a > 0) return -a * log(a);
    if (a == 0) return 0;
    return isnan(a) ? a : -std::numeric_limits<T>::infinity();
  }
};

template <class T>
struct Xlog1py {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if (isnan(b)) return b;
    return a == 0 ? T(0) : a * log1p(b);
  }
};

template <class T>
struct Erfcx {
  BOXCAR_HOST_DEVICE T operator()(T a) const { return static_cast<T>(erfcx(static_cast<double>(a))); }

  BOXCAR_HOST_DEVICE static double erfcx(double x) {
    if (x > 10) {
      // The asymptotic series; where its terms are too small to count, x * x may overflow.
      const double half = 0.5 / x / x;
      double series = 1;
      for (int i = 19; i > 0; i -= 2) series = 1 - i * half * series;
      return std::numbers::inv_sqrtpi / x * series;
    }
    // exp(x * x) with the rounding error of the square.
    const double square = x * x;
    const double scale = exp(square);
    if (isinf(scale)) return scale;
    return (scale + scale * std::fma(x, x, -square)) * erfc(x);
  }
};

// The normal distribution function.
template <class T>
struct Ndtr {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    return static_cast<T>(erfc(static_cast<double>(a) / -std::numbers::sqrt2) / 2);
  }
};

// The logarithm of the normal distribution function.
template <class T>
struct LogNdtr {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    const double t = static_cast<double>(a) / std::numbers::sqrt2;
    return static_cast<T>(a < -1 ? log(Erfcx<double>::erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2));
  }
};

template <class T>
struct SphericalBesselJ0 {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if (isinf(a)) return 0;
    return a == 0 ? T(1) : sin(a) / a;
  }
};

}  // namespace boxcar::functors
