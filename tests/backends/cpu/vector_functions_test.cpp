#include <boxcar/backends/cpu/vector_small_floats.h>
#include <boxcar/ivalue/half.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

// Compares the vectorized functions with the standard library's in higher precision, over all exponents. Errors are in
// units in the last place of the result.

namespace boxcar {
namespace {

using Real = long double;

template <class T>
struct Function {
  const char* name;
  Tensor (*run)(const Tensor&);
  Real (*exact)(Real);
  Real ulps;
  // Results below this are measured in units of this size: functions with zeros lose digits near them, and others
  // underflow early.
  Real floor = 0;
};

// Returns numbers of every exponent and both signs, and those where functions have special cases.
template <class T>
std::vector<T> numbersOfAllSizes(int each) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers = {T(0),
                            -T(0),
                            T(1),
                            -T(1),
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::max(),
                            Limits::lowest(),
                            Limits::denorm_min(),
                            -Limits::denorm_min()};
  uint64_t state = 1;
  for (int exponent = Limits::min_exponent - Limits::digits; exponent <= Limits::max_exponent; ++exponent) {
    for (int i = 0; i < each; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const T mantissa = T(0.5) + T(0.5) * static_cast<T>(state >> 11) / static_cast<T>(uint64_t{1} << 53);
      const T number = std::ldexp(mantissa, exponent);
      numbers.push_back(i % 2 == 0 ? number : -number);
    }
  }
  return numbers;
}

template <class T>
Real distance(T got, Real wanted, Real floor) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(got) || std::isnan(rounded)) return std::isnan(got) == std::isnan(rounded) ? 0 : HUGE_VALL;
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) {
    // Overflow next to the largest number counts as one unit.
    const T finite = std::isinf(got) ? rounded : got;
    return !std::isinf(finite) && std::abs(finite) > std::numeric_limits<T>::max() * T(0.999999) ? 1 : HUGE_VALL;
  }
  const T size = std::max({std::abs(rounded), std::numeric_limits<T>::min(), static_cast<T>(floor)});
  const Real unit =
      static_cast<Real>(std::nextafter(size, std::numeric_limits<T>::infinity())) - static_cast<Real>(size);
  return std::abs(static_cast<Real>(got) - wanted) / unit;
}

template <class T>
void check(const Function<T>& function, int each) {
  const std::vector<T> numbers = numbersOfAllSizes<T>(each);
  const Tensor input = Tensor::allocate({{static_cast<int64_t>(numbers.size())}}, scalarTypeOf<T>);
  std::copy(numbers.begin(), numbers.end(), input.data_ptr<T>());
  const Tensor result = function.run(input);
  Real worst = 0;
  T at = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Real wanted = function.exact(static_cast<Real>(numbers[i]));
    const T got = result.data_ptr<T>()[i];
    const Real off = distance(got, wanted, function.floor);
    if (off > worst) {
      worst = off;
      at = numbers[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.name << " of " << at << " is " << worst << " ulp off";
}

Real rsqrtOf(Real x) { return 1 / std::sqrt(x); }
Real sigmoidOf(Real x) { return 1 / (1 + std::exp(-x)); }
Real siluOf(Real x) { return x / (1 + std::exp(-x)); }
Real logSigmoidOf(Real x) { return std::min<Real>(x, 0) - std::log1p(std::exp(-std::abs(x))); }
Real mishOf(Real x) { return x * std::tanh(std::log1p(std::exp(x))); }
Real eluOf(Real x) { return x > 0 ? x : std::expm1(x); }
Real log2Of(Real x) { return std::log2(x); }

template <class T>
std::vector<Function<T>> functions() {
  return {
      {"exp", [](const Tensor& x) { return exp(x); }, [](Real x) { return std::exp(x); }, 2},
      {"exp2", [](const Tensor& x) { return exp2(x); }, [](Real x) { return std::exp2(x); }, 3},
      {"expm1", [](const Tensor& x) { return expm1(x); }, [](Real x) { return std::expm1(x); }, 5},
      {"log", [](const Tensor& x) { return log(x); }, [](Real x) { return std::log(x); }, 4},
      {"log2", [](const Tensor& x) { return log2(x); }, log2Of, 4},
      {"log10", [](const Tensor& x) { return log10(x); }, [](Real x) { return std::log10(x); }, 4},
      {"log1p", [](const Tensor& x) { return log1p(x); }, [](Real x) { return std::log1p(x); }, 4},
      {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](Real x) { return std::sqrt(x); }, 0.5},
      {"rsqrt", [](const Tensor& x) { return rsqrt(x); }, rsqrtOf, 1.5},
      {"sin", [](const Tensor& x) { return sin(x); }, [](Real x) { return std::sin(x); }, 4, 1e-3L},
      {"cos", [](const Tensor& x) { return cos(x); }, [](Real x) { return std::cos(x); }, 4, 1e-3L},
      {"tan", [](const Tensor& x) { return tan(x); }, [](Real x) { return std::tan(x); }, 6, 1e-3L},
      {"asin", [](const Tensor& x) { return asin(x); }, [](Real x) { return std::asin(x); }, 4},
      {"acos", [](const Tensor& x) { return acos(x); }, [](Real x) { return std::acos(x); }, 4},
      {"atan", [](const Tensor& x) { return atan(x); }, [](Real x) { return std::atan(x); }, 4},
      {"sinh", [](const Tensor& x) { return sinh(x); }, [](Real x) { return std::sinh(x); }, 5},
      {"cosh", [](const Tensor& x) { return cosh(x); }, [](Real x) { return std::cosh(x); }, 4},
      {"tanh", [](const Tensor& x) { return tanh(x); }, [](Real x) { return std::tanh(x); }, 5},
      {"asinh", [](const Tensor& x) { return asinh(x); }, [](Real x) { return std::asinh(x); }, 5},
      {"acosh", [](const Tensor& x) { return acosh(x); }, [](Real x) { return std::acosh(x); }, 5},
      {"atanh", [](const Tensor& x) { return atanh(x); }, [](Real x) { return std::atanh(x); }, 5},
      {"erf", [](const Tensor& x) { return erf(x); }, [](Real x) { return std::erf(x); }, 4},
      {"erfc", [](const Tensor& x) { return erfc(x); }, [](Real x) { return std::erfc(x); }, 6},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, sigmoidOf, 4, 1e-30L},
      {"silu", [](const Tensor& x) { return silu(x); }, siluOf, 5, 1e-28L},
      {"mish", [](const Tensor& x) { return mish(x); }, mishOf, 6, 1e-28L},
      {"elu", [](const Tensor& x) { return elu(x); }, eluOf, 6},
      {"log_sigmoid", [](const Tensor& x) { return log_sigmoid(x); }, logSigmoidOf, 5},
  };
}

TEST(VectorFunctions, FloatsAreAFewUlpsOff) {
  for (const Function<float>& function : functions<float>()) check(function, 64);
}

TEST(VectorFunctions, DoublesAreAFewUlpsOff) {
  for (const Function<double>& function : functions<double>()) check(function, 8);
}

// Floats of every sign, exponent and upper bits of the significand, with lower bits that are just below, at and above
// the half between two small floats; and NaNs with several payloads.
std::vector<float> floatsToRound() {
  std::vector<float> numbers;
  for (uint32_t upper = 0; upper < 0x80000; ++upper) {
    for (const uint32_t lower : {0U, 0x1U, 0xfffU, 0x1000U, 0x1001U, 0x1fffU})
      numbers.push_back(std::bit_cast<float>(upper << 13 | lower));
  }
  return numbers;
}

template <class T>
void checkRows(ScalarType type) {
  const cpu::SmallFloatRows& rows = cpu::smallFloatRows(type);
  std::vector<float> numbers = floatsToRound();
  numbers.push_back(1.5f);  // no multiple of a vector
  std::vector<T> narrow(numbers.size());
  rows.narrow(numbers.data(), narrow.data(), numbers.size());
  std::vector<float> wide(numbers.size());
  rows.widen(narrow.data(), wide.data(), numbers.size());
  std::vector<float> rounded = numbers;
  rows.round(rounded.data(), rounded.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const T expected(numbers[i]);
    ASSERT_EQ(narrow[i].bits, expected.bits) << std::bit_cast<uint32_t>(numbers[i]);
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), std::bit_cast<uint32_t>(float(expected))) << expected.bits;
    ASSERT_EQ(std::bit_cast<uint32_t>(rounded[i]), std::bit_cast<uint32_t>(float(expected))) << expected.bits;
  }
}

TEST(VectorFunctions, SmallFloatsAreConvertedAsOneByOne) {
  checkRows<Half>(ScalarType::Half);
  checkRows<BFloat16>(ScalarType::BFloat16);
}

}  // namespace
}  // namespace boxcar
