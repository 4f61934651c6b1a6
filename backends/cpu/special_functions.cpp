#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/native/special_functions.h>

#include <boost/math/policies/policy.hpp>
#include <boost/math/special_functions/airy.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

// The functions of native/special_functions.h, by Boost.Math and the C library. At infinity and NaN, results are those
// of PyTorch, which are NaN more often than limits are.

namespace boxcar::cpu {
namespace {

using native::BinaryFunction;
using native::UnaryFunction;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// Results at poles, and those that do not fit, are infinite or NaN, not exceptions. Doubles stay doubles.
namespace policies = boost::math::policies;
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::denorm_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>, policies::indeterminate_result_error<policies::ignore_error>,
    policies::promote_float<false>, policies::promote_double<false>>;

// Beyond this, exp(x) may overflow.
constexpr double kLargeArgument = 700;

// The asymptotic series of the modified Bessel functions of order [n] for x above kLargeArgument, without their
// exponential and square root; [sign] is 1 for K, -1 for I.
double seriesOfLarge(int n, double x, double sign) {
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 8; ++k) {
    term *= sign * (4 * n * n - (2 * k - 1) * (2 * k - 1)) / (8.0 * k) / x;
    sum += term;
  }
  return sum;
}

template <int n>
double scaledI(double x) {
  const double size = std::abs(x);
  if (std::isnan(x)) return x;
  const double value = size > kLargeArgument
                           ? seriesOfLarge(n, size, -1) / std::sqrt(2 * std::numbers::pi) / std::sqrt(size)
                           : boost::math::cyl_bessel_i(n, size, Quiet()) * std::exp(-size);
  return n == 1 && x < 0 ? -value : value;
}

template <int n>
double besselI(double x) {
  const double size = std::abs(x);
  if (!std::isfinite(x)) return kNotANumber;
  if (size <= kLargeArgument) {
    const double value = boost::math::cyl_bessel_i(n, size, Quiet());
    return n == 1 && x < 0 ? -value : value;
  }
  const double root = std::exp(size / 2);  // its square may overflow where the result does not
  return scaledI<n>(x) * root * root;
}

template <int n>
double besselK(double x) {
  if (x == 0) return kInfinite;
  if (!(x > 0)) return kNotANumber;
  return x > kLargeArgument ? std::exp(-x) * std::sqrt(std::numbers::pi / 2 / x) * seriesOfLarge(n, x, 1)
                            : boost::math::cyl_bessel_k(n, x, Quiet());
}

template <int n>
double scaledK(double x) {
  if (x == 0) return kInfinite;
  if (!(x > 0)) return kNotANumber;
  return x > kLargeArgument ? std::sqrt(std::numbers::pi / 2 / x) * seriesOfLarge(n, x, 1)
                            : boost::math::cyl_bessel_k(n, x, Quiet()) * std::exp(x);
}

double besselJ0(double x) { return std::isinf(x) ? kNotANumber : ::j0(x); }
double besselJ1(double x) { return std::isinf(x) ? kNotANumber : ::j1(x); }
double besselY0(double x) { return std::isinf(x) ? kNotANumber : x > 0 ? ::y0(x) : x == 0 ? -kInfinite : kNotANumber; }
double besselY1(double x) { return std::isinf(x) ? kNotANumber : x > 0 ? ::y1(x) : x == 0 ? -kInfinite : kNotANumber; }

double airyAi(double x) {
  if (!std::isfinite(x)) return kNotANumber;
  return x > 110 ? 0 : boost::math::airy_ai(x, Quiet());
}

double ndtri(double p) {
  if (p == 0) return -kInfinite;
  if (p == 1) return kInfinite;
  if (!(p > 0 && p < 1)) return kNotANumber;
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Quiet());
}

// [upper]: of the integral from x to infinity.
template <bool upper>
double incompleteGamma(double a, double x) {
  const double low = upper ? 1 : 0;
  if (x < 0 || a < 0) return kNotANumber;
  if (a == 0) return x > 0 ? 1 - low : kNotANumber;
  if (x == 0) return low;
  if (std::isinf(a)) return std::isinf(x) ? kNotANumber : low;
  if (std::isinf(x)) return 1 - low;
  if (std::isnan(a) || std::isnan(x)) return kNotANumber;
  return upper ? boost::math::gamma_q(a, x, Quiet()) : boost::math::gamma_p(a, x, Quiet());
}

// A number that depends on a parameter, and its derivative.
struct Dual {
  double value;
  double slope;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
Dual operator/(Dual a, Dual b) {
  const double quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}

// Over x^a e^-x: the integral of t^(a-1) e^-t from 0 to x as a power series, for x up to about a.
Dual integralToX(double a, double x) {
  Dual term = Dual{1, 0} / Dual{a, 1};
  Dual sum = term;
  for (int i = 1; i < 100000 && std::abs(term.value) + std::abs(term.slope) > 1e-17 * std::abs(sum.value); ++i) {
    term = term * (Dual{x, 0} / Dual{a + i, 1});
    sum = sum + term;
  }
  return sum;
}

// The same from x to infinity as a continued fraction, for x above about a.
Dual integralFromX(double a, double x) {
  constexpr double kTiny = 1e-300;
  Dual b{x + 1 - a, -1};
  Dual c{1 / kTiny, 0};
  Dual d = Dual{1, 0} / b;
  Dual fraction = d;
  for (int i = 1; i < 10000; ++i) {
    const Dual factor{-i * (i - a), static_cast<double>(i)};
    b.value += 2;
    d = Dual{1, 0} / (factor * d + b);
    c = b + factor / c;
    const Dual change = c * d;
    fraction = fraction * change;
    if (std::abs(change.value - 1) + std::abs(change.slope) < 1e-16) break;
  }
  return fraction;
}

// How fast a sample x of the gamma distribution moves with its shape a, at a constant quantile.
double gammaSampleSlope(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return kNotANumber;
  if (x == 0) return 0;
  if (a > 1e5) return (x + a) / (2 * a);  // as of the normal distribution, which it resembles
  const double shift = std::log(x) - boost::math::digamma(a, Quiet());
  if (x > a + 1) {
    const Dual upper = integralFromX(a, x);
    return x * (shift * upper.value + upper.slope);
  }
  const Dual lower = integralToX(a, x);
  return -x * (shift * lower.value + lower.slope);
}

// In the order of the enums.
constexpr double (*kUnaryFunctions[])(double) = {
    besselI<0>, scaledI<0>, besselI<1>, scaledI<1>, besselK<0>, scaledK<0>, besselK<1>,
    scaledK<1>, besselJ0,   besselJ1,   besselY0,   besselY1,   airyAi,     ndtri,
};
static_assert(std::size(kUnaryFunctions) == static_cast<size_t>(UnaryFunction::Ndtri) + 1);
constexpr double (*kBinaryFunctions[])(double, double) = {incompleteGamma<false>, incompleteGamma<true>,
                                                          gammaSampleSlope};
static_assert(std::size(kBinaryFunctions) == static_cast<size_t>(BinaryFunction::SampledGamma) + 1);

}  // namespace

// Functors, like those of functors/, that call the function whose number is the parameter.
template <class T>
struct CallUnary {
  explicit CallUnary(const Scalar* params) : function(kUnaryFunctions[params->toLong()]) {}
  T operator()(T a) const { return static_cast<T>(function(static_cast<double>(a))); }

  double (*function)(double);
};

template <class T>
struct CallBinary {
  explicit CallBinary(const Scalar* params) : function(kBinaryFunctions[params->toLong()]) {}
  T operator()(T a, T b) const { return static_cast<T>(function(static_cast<double>(a), static_cast<double>(b))); }

  double (*function)(double, double);
};

template <>
const Loops LoopsOf<Functor::kUnaryFunction>::value = makeLoops<CallUnary, 1, Result::kFloat>(kFloatingTypes);
template <>
const Loops LoopsOf<Functor::kBinaryFunction>::value = makeLoops<CallBinary, 2, Result::kFloat>(kFloatingTypes);

}  // namespace boxcar::cpu
