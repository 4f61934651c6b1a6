#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Moments of numbers that are drawn, which must be near those of the distribution, and arguments at its ends.

namespace boxcar {
namespace {

constexpr int64_t kCount = 200000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor repeated(double value) { return full({kCount}, value, ScalarType::Double); }

// Expects [numbers] to have that mean and variance, within five standard errors.
void expectMoments(const Tensor& numbers, double mean, double variance) {
  const double found_mean = item(boxcar::mean(numbers)).toDouble();
  const double found_variance = item(var(numbers)).toDouble();
  EXPECT_NEAR(found_mean, mean, 5 * std::sqrt(variance / kCount));
  EXPECT_NEAR(found_variance, variance, 0.05 * variance);
}

double chanceOf(const Tensor& numbers, double value) {
  return item(boxcar::mean(to(eq(numbers, value), ScalarType::Double))).toDouble();
}

TEST(RandomDistributions, CauchyNumbersOfASeedAreThoseOfPyTorch) {
  manualSeed(3);
  Tensor numbers = empty({2}, ScalarType::Double);
  cauchy_(numbers);
  EXPECT_NEAR(item(select(numbers, 0, 0)).toDouble(), -9.2966, 1e-4);
  EXPECT_NEAR(item(select(numbers, 0, 1)).toDouble(), -0.7922, 1e-4);
}

TEST(RandomDistributions, NothingIsResizedBeforeHugeSizesOfComplexNumbersAreRefusedOrFilled) {
  Tensor out = zeros({2, 3}, ScalarType::ComplexFloat);
  const std::vector<int64_t> sizes = {2, 3, int64_t{1} << 61, 0};
  rand_out(out, sizes);
  EXPECT_EQ(std::vector<int64_t>(out.sizes().begin(), out.sizes().end()), sizes);
  EXPECT_EQ(errorOf([&] { view_as_real(out); }),
            "view_as_real: the strides [6917529027641081856, 2305843009213693952, 1, 1] are too large to be counted in "
            "real numbers");
}

TEST(RandomDistributions, PoissonNumbersHaveTheirMeanAsMeanAndVariance) {
  manualSeed(1);
  for (const double mean : {0.3, 4.0, 10.0, 37.5, 1e6}) {
    SCOPED_TRACE(mean);
    const Tensor numbers = poisson(repeated(mean));
    expectMoments(numbers, mean, mean);
    EXPECT_TRUE(equal(numbers, floor(numbers)));
    if (mean > 100) continue;
    const double mode = std::floor(mean);
    const double chance = std::exp(mode * std::log(mean) - mean - std::lgamma(mode + 1));
    EXPECT_NEAR(chanceOf(numbers, mode), chance, 5 * std::sqrt(chance / kCount));
  }
}

TEST(RandomDistributions, PoissonOfZeroAndOfInvalidMeans) {
  EXPECT_EQ(elements<double>(poisson(zeros({2}, ScalarType::Double))), (std::vector<double>{0, 0}));
  EXPECT_EQ(item(poisson(full({1}, kInfinity))).toDouble(), kInfinity);
  EXPECT_THROW(poisson(floats({1, -1})), Error);
  EXPECT_THROW(poisson(floats({std::numeric_limits<float>::quiet_NaN()})), Error);
  EXPECT_THROW(poisson(ones({2}, ScalarType::Long)), Error);
}

TEST(RandomDistributions, BinomialNumbersCountSuccesses) {
  manualSeed(2);
  for (const auto& [count, chance] :
       {std::pair(5.0, 0.3), std::pair(1.0, 0.9), std::pair(50.0, 0.4), std::pair(1000.0, 0.7), std::pair(1e6, 1e-6)}) {
    SCOPED_TRACE(count);
    const Tensor numbers = binomial(repeated(count), repeated(chance));
    expectMoments(numbers, count * chance, count * chance * (1 - chance));
    EXPECT_GE(item(min(numbers)).toDouble(), 0);
    EXPECT_LE(item(max(numbers)).toDouble(), count);
    EXPECT_TRUE(equal(numbers, floor(numbers)));
  }
}

TEST(RandomDistributions, BinomialOfCertainResults) {
  EXPECT_EQ(elements<float>(binomial(floats({7, 100, 0}), floats({1, 1, 0.5F}))), (std::vector<float>{7, 100, 0}));
  EXPECT_EQ(elements<float>(binomial(floats({7, 100}), floats({0, 0}))), (std::vector<float>{0, 0}));
  EXPECT_EQ(sizesOf(binomial(ones({2, 1}), zeros({3}))), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(std::isnan(item(binomial(floats({3}), floats({std::numeric_limits<float>::quiet_NaN()}))).toDouble()));
  EXPECT_THROW(binomial(ones({2}), ones({2}, ScalarType::Double)), Error);
}

TEST(RandomDistributions, GammaNumbersHaveTheirShapeAsMeanAndVariance) {
  manualSeed(3);
  for (const double shape : {0.2, 1.0, 3.5, 1000.0}) {
    SCOPED_TRACE(shape);
    const Tensor numbers = _standard_gamma(repeated(shape));
    expectMoments(numbers, shape, shape);
    EXPECT_GT(item(min(numbers)).toDouble(), 0);
  }
  // A shape of 1 is the exponential distribution.
  const Tensor above_one = gt(_standard_gamma(repeated(1)), 1);
  EXPECT_NEAR(item(boxcar::mean(to(above_one, ScalarType::Double))).toDouble(), std::exp(-1), 0.01);
  EXPECT_GT(item(_standard_gamma(zeros({1}))).toDouble(), 0);
  EXPECT_EQ(item(_standard_gamma(full({1}, kInfinity))).toDouble(), kInfinity);
}

TEST(RandomDistributions, DirichletNumbersSumToOne) {
  manualSeed(4);
  const Tensor shares = _sample_dirichlet(expand(floats({1, 2, 5}), {kCount, 3}));
  const int64_t rows[] = {0};
  const int64_t columns[] = {1};
  EXPECT_TRUE(allclose(sum(shares, columns), ones({kCount})));
  EXPECT_TRUE(allclose(boxcar::mean(shares, rows), floats({0.125F, 0.25F, 0.625F}), 0, 0.01));
}

TEST(RandomDistributions, AGivenGeneratorIsDrawnFromAndASeedRepeats) {
  const Generator generator = makeCpuGenerator(5);
  const Tensor means = floats({0.5F, 3, 20, 400});
  const Tensor numbers = poisson(means, generator);
  const Tensor gammas = _standard_gamma(means, generator);
  manualSeed(5);
  EXPECT_TRUE(equal(numbers, poisson(means)));
  EXPECT_TRUE(equal(gammas, _standard_gamma(means)));
}

}  // namespace
}  // namespace boxcar
