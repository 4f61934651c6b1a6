#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace boxcar::cpu {
namespace {

template <class T>
struct ErrorFunction {
  static constexpr VectorFunction kVector = VectorFunction::kErf;
  T operator()(T a) const { return std::erf(a); }
};

template <class T>
struct ErrorComplement {
  static constexpr VectorFunction kVector = VectorFunction::kErfc;
  T operator()(T a) const { return std::erfc(a); }
};

// The x for which erf(x) is a: a first guess, then steps of Halley's method, each of which triples the digits.
template <class T>
struct ErrorInverse {
  T operator()(T a) const {
    const double size = std::abs(static_cast<double>(a));
    if (!(size < 1))
      return size == 1 ? static_cast<T>(a * std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::quiet_NaN();
    if (size == 0) return a;
    constexpr double kShape = 0.147;
    const double logarithm = std::log1p(-size * size);
    const double middle = 2 / (std::numbers::pi * kShape) + logarithm / 2;
    double x = std::sqrt(std::sqrt(middle * middle - logarithm / kShape) - middle);
    for (int i = 0; i < 3; ++i) {
      // By the complement where erf is close to 1.
      const double error = size < 0.5 ? std::erf(x) - size : (1 - size) - std::erfc(x);
      const double step = error / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
      x -= step / (1 + x * step);
    }
    return static_cast<T>(std::copysign(x, static_cast<double>(a)));
  }
};

template <class T>
struct LogGamma {
  T operator()(T a) const {
    int sign;  // std::lgamma would write it where all threads do
    if constexpr (std::is_same_v<T, float>) {
      return ::lgammaf_r(a, &sign);
    } else {
      return ::lgamma_r(a, &sign);
    }
  }
};

// The derivative of LogGamma.
template <class T>
struct Digamma {
  T operator()(T a) const { return static_cast<T>(digamma(static_cast<double>(a))); }

  static double digamma(double x) {
    if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
    if (x < 0) {
      const double whole = std::trunc(x);
      if (x == whole) return std::numeric_limits<double>::quiet_NaN();
      return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * (x - whole));
    }
    double sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    // The asymptotic series, whose coefficients are Bernoulli's numbers over twice the power.
    const double square = 1 / (x * x);
    double series = 0;
    for (const double term : {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12}) {
      series = term + square * series;
    }
    return sum + std::log(x) - 0.5 / x - (x < 1e17 ? square * series : 0);
  }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { BOXCAR_SPECIAL_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::cpu
