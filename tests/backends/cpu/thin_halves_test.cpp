// Products of a few rows with matrices of float16 and bfloat16.

#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// The product in float64, of the elements as they are.
Tensor exact(const Tensor& a, const Tensor& b) { return mm(to(a, ScalarType::Double), to(b, ScalarType::Double)); }

double tolerance(ScalarType type) { return type == ScalarType::Half ? 1e-3 : 8e-3; }  // half a unit in the last place

class ThinHalves : public testing::TestWithParam<std::tuple<ScalarType, bool>> {};

// Sizes that fill pieces of a matrix and do not, with rows or columns one after another.
TEST_P(ThinHalves, AreRoundedOnce) {
  const auto [type, transposed] = GetParam();
  for (const int64_t rows : {1, 2, 3}) {
    for (const auto& [depth, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {7, 33}, {1030, 6}, {40, 515}, {2048, 768}}) {
      const Tensor a = to(randn({rows, depth}), type);
      const Tensor b = transposed ? t(to(randn({columns, depth}), type)) : to(randn({depth, columns}), type);
      const Tensor expected = exact(a, b);
      const double bound = tolerance(type);
      EXPECT_TRUE(allclose(to(mm(a, b), ScalarType::Double), expected, bound, bound)) << rows << depth << columns;
      const Tensor bias = to(randn({columns}), type);
      const Tensor sum = add(mul(to(bias, ScalarType::Double), 0.5), mul(expected, 2.0));
      EXPECT_TRUE(allclose(to(addmm(bias, a, b, 0.5, 2.0), ScalarType::Double), sum, bound, 2 * bound));
      const Tensor whole = add(to(bias, ScalarType::Double), expected);
      EXPECT_TRUE(allclose(to(linear(a, t(b), bias), ScalarType::Double), whole, bound, bound));
      const Tensor other = to(randn({rows, columns}), type);
      EXPECT_TRUE(allclose(to(fused::linear(a, t(b), bias, other), ScalarType::Double),
                           add(whole, to(other, ScalarType::Double)), bound, 2 * bound));
    }
  }
}

TEST_P(ThinHalves, HaveEqualResultsForAnyNumberOfThreads) {
  const auto [type, transposed] = GetParam();
  const Tensor a = to(randn({2, 1000}), type);
  const Tensor b = transposed ? t(to(randn({1001, 1000}), type)) : to(randn({1000, 1001}), type);
  const int before = cpu::threadCount();
  cpu::setThreadCount(1);
  const Tensor one = mm(a, b);
  cpu::setThreadCount(3);
  const Tensor three = mm(a, b);
  cpu::setThreadCount(before);
  EXPECT_TRUE(equal(one, three));
}

INSTANTIATE_TEST_SUITE_P(Types, ThinHalves,
                         testing::Combine(testing::Values(ScalarType::Half, ScalarType::BFloat16), testing::Bool()));

TEST(ThinHalvesOfSteps, AMatrixWithGapsIsMultiplied) {
  const Tensor a = to(randn({1, 50}), ScalarType::BFloat16);
  const Tensor b = select(to(randn({50, 60, 2}), ScalarType::BFloat16), 2, 1);
  EXPECT_TRUE(allclose(to(mm(a, b), ScalarType::Double), exact(a, b), 8e-3, 8e-3));
}

}  // namespace
}  // namespace boxcar
