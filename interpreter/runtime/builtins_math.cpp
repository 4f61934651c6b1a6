// math::.

#include <boxcar/interpreter/runtime/arithmetic.h>
#include <boxcar/interpreter/runtime/builtin_table.h>
#include <boxcar/interpreter/runtime/value_operations.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

namespace boxcar::interp {
namespace {

using RealFunction = double (*)(double);
using RealFunctionOfTwo = double (*)(double, double);

// A string literal as a template argument.
template <size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
};

// Throws, as Python does, where C returns inf or nan for a number that is in range.
template <Name name, RealFunction function>
IValue mathFunction(std::span<IValue> arguments) {
  const double argument = arguments[0].toDouble();
  const double result = function(argument);
  if (!std::isfinite(result)) [[unlikely]] {
    const bool is_in_domain = std::isnan(result) ? std::isnan(argument) : result > 0 || std::isinf(argument);
    BOXCAR_CHECK(is_in_domain, "math::{}({}): the number is not in the function's domain", name.text, arguments[0]);
    BOXCAR_CHECK(!std::isfinite(argument), "math::{}({}) is too large for a float", name.text, arguments[0]);
  }
  return result;
}

template <Name name, RealFunctionOfTwo function>
IValue mathFunctionOfTwo(std::span<IValue> arguments) {
  const double a = arguments[0].toDouble();
  const double b = arguments[1].toDouble();
  const double result = function(a, b);
  if (!std::isfinite(result)) [[unlikely]] {
    BOXCAR_CHECK(!std::isnan(result) || std::isnan(a) || std::isnan(b),
                 "math::{}({}, {}): the numbers are not in the function's domain", name.text, arguments[0],
                 arguments[1]);
    BOXCAR_CHECK(!std::isfinite(a) || !std::isfinite(b), "math::{}({}, {}) is too large for a float", name.text,
                 arguments[0], arguments[1]);
  }
  return result;
}

template <Name name, RealFunction function>
IValue mathInteger(std::span<IValue> arguments) {
  const double result = function(arguments[0].toDouble());
  BOXCAR_CHECK(result >= -0x1p63 && result < 0x1p63, "math::{}({}) does not fit an int of 64 bits", name.text,
               arguments[0]);
  return static_cast<int64_t>(result);
}

double degrees(double x) { return x * (180.0 / std::numbers::pi); }
double radians(double x) { return x * (std::numbers::pi / 180.0); }

// The C library's lgamma() writes a global variable.
double logGamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

IValue gcd(std::span<IValue> arguments) {
  const auto size = [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); };
  return static_cast<int64_t>(std::gcd(size(arguments[0].toInt()), size(arguments[1].toInt())));
}

IValue factorial(std::span<IValue> arguments) {
  const int64_t number = arguments[0].toInt();
  constexpr int64_t kLargest = 20;
  BOXCAR_CHECK(number >= 0, "math::factorial({}): the number must not be negative", number);
  BOXCAR_CHECK(number <= kLargest, "math::factorial({}) does not fit an int of 64 bits", number);
  int64_t product = 1;
  for (int64_t i = 2; i <= number; ++i) product *= i;
  return product;
}

IValue ldexp(std::span<IValue> arguments) {
  const double x = arguments[0].toDouble();
  const auto exponent = static_cast<int>(std::clamp<int64_t>(arguments[1].toInt(), -10000, 10000));
  const double result = std::ldexp(x, exponent);
  BOXCAR_CHECK(std::isfinite(result) || !std::isfinite(x), "math::ldexp({}, {}) is too large for a float", arguments[0],
               arguments[1]);
  return result;
}

IValue frexp(std::span<IValue> arguments) {
  int exponent = 0;
  const double mantissa = std::frexp(arguments[0].toDouble(), &exponent);
  return Tuple(std::vector<IValue>{mantissa, std::isfinite(mantissa) ? int64_t{exponent} : int64_t{0}});
}

TypePtr frexpType(std::span<const TypePtr> /*arguments*/) {
  const TypePtr parts[] = {Type::floating(), Type::integer()};
  return Type::tupleOf(parts);
}

IValue modf(std::span<IValue> arguments) {
  double whole = 0;
  const double rest = std::modf(arguments[0].toDouble(), &whole);
  return Tuple(std::vector<IValue>{rest, whole});
}

TypePtr modfType(std::span<const TypePtr> /*arguments*/) {
  const TypePtr parts[] = {Type::floating(), Type::floating()};
  return Type::tupleOf(parts);
}

template <bool (*is)(double)>
IValue mathCheck(std::span<IValue> arguments) {
  return is(arguments[0].toDouble());
}

}  // namespace

void addMathBuiltins(BuiltinTable& table) {
  addBuiltin(table, "math::sqrt(float x) -> float", mathFunction<"sqrt", std::sqrt>);
  addBuiltin(table, "math::exp(float x) -> float", mathFunction<"exp", std::exp>);
  addBuiltin(table, "math::expm1(float x) -> float", mathFunction<"expm1", std::expm1>);
  addBuiltin(table, "math::log(float x) -> float", mathFunction<"log", std::log>);
  addBuiltin(table, "math::log2(float x) -> float", mathFunction<"log2", std::log2>);
  addBuiltin(table, "math::log10(float x) -> float", mathFunction<"log10", std::log10>);
  addBuiltin(table, "math::log1p(float x) -> float", mathFunction<"log1p", std::log1p>);
  addBuiltin(table, "math::sin(float x) -> float", mathFunction<"sin", std::sin>);
  addBuiltin(table, "math::cos(float x) -> float", mathFunction<"cos", std::cos>);
  addBuiltin(table, "math::tan(float x) -> float", mathFunction<"tan", std::tan>);
  addBuiltin(table, "math::asin(float x) -> float", mathFunction<"asin", std::asin>);
  addBuiltin(table, "math::acos(float x) -> float", mathFunction<"acos", std::acos>);
  addBuiltin(table, "math::atan(float x) -> float", mathFunction<"atan", std::atan>);
  addBuiltin(table, "math::atan2(float y, float x) -> float", mathFunctionOfTwo<"atan2", std::atan2>);
  addBuiltin(table, "math::sinh(float x) -> float", mathFunction<"sinh", std::sinh>);
  addBuiltin(table, "math::cosh(float x) -> float", mathFunction<"cosh", std::cosh>);
  addBuiltin(table, "math::tanh(float x) -> float", mathFunction<"tanh", std::tanh>);
  addBuiltin(table, "math::asinh(float x) -> float", mathFunction<"asinh", std::asinh>);
  addBuiltin(table, "math::acosh(float x) -> float", mathFunction<"acosh", std::acosh>);
  addBuiltin(table, "math::atanh(float x) -> float", mathFunction<"atanh", std::atanh>);
  addBuiltin(table, "math::erf(float x) -> float", mathFunction<"erf", std::erf>);
  addBuiltin(table, "math::erfc(float x) -> float", mathFunction<"erfc", std::erfc>);
  addBuiltin(table, "math::gamma(float x) -> float", mathFunction<"gamma", std::tgamma>);
  addBuiltin(table, "math::lgamma(float x) -> float", mathFunction<"lgamma", logGamma>);
  addBuiltin(table, "math::degrees(float x) -> float", mathFunction<"degrees", degrees>);
  addBuiltin(table, "math::radians(float x) -> float", mathFunction<"radians", radians>);

  addBuiltin(table, "math::fabs(float x) -> float", mathFunction<"fabs", std::fabs>);
  addBuiltin(table, "math::floor(float x) -> int", mathInteger<"floor", std::floor>);
  addBuiltin(table, "math::ceil(float x) -> int", mathInteger<"ceil", std::ceil>);
  addBuiltin(table, "math::trunc(float x) -> int", mathInteger<"trunc", std::trunc>);
  addBuiltin(table, "math::fmod(float x, float y) -> float", mathFunctionOfTwo<"fmod", std::fmod>);
  addBuiltin(table, "math::remainder(float x, float y) -> float", mathFunctionOfTwo<"remainder", std::remainder>);
  addBuiltin(table, "math::copysign(float x, float sign) -> float", mathFunctionOfTwo<"copysign", std::copysign>);
  addBuiltin(table, "math::hypot(float x, float y) -> float", mathFunctionOfTwo<"hypot", std::hypot>);
  addBuiltin(table, "math::ldexp(float x, int exponent) -> float", ldexp);
  addBuiltin(table, "math::frexp(float x) -> Any", frexp, frexpType);
  addBuiltin(table, "math::modf(float x) -> Any", modf, modfType);
  addBuiltin(table, "math::isnan(float x) -> bool", mathCheck<std::isnan>);
  addBuiltin(table, "math::isinf(float x) -> bool", mathCheck<std::isinf>);
  addBuiltin(table, "math::isfinite(float x) -> bool", mathCheck<std::isfinite>);

  addBuiltin(table, "math::gcd(int a, int b) -> int", gcd);
  addBuiltin(table, "math::factorial(int n) -> int", factorial);
}

}  // namespace boxcar::interp
