// Products of a few rows with matrices that are read as they are.

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/ivalue/default_generators.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// The product in float64, by a plain loop.
Tensor productInDoubles(const Tensor& a, const Tensor& b) {
  const int64_t rows = a.sizes()[0];
  const int64_t depth = a.sizes()[1];
  const int64_t columns = b.sizes()[1];
  const std::vector<double> x = elements<double>(to(a, ScalarType::Double));
  const std::vector<double> y = elements<double>(to(b, ScalarType::Double));
  Tensor result = zeros({rows, columns}, ScalarType::Double);
  auto* const out = result.data_ptr<double>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t j = 0; j < columns; ++j) {
        out[i * columns + j] += x[static_cast<size_t>(i * depth + p)] * y[static_cast<size_t>(p * columns + j)];
      }
    }
  }
  return result;
}

bool isClose(const Tensor& got, const Tensor& expected, double tolerance) {
  return allclose(to(got, ScalarType::Double), expected, tolerance, tolerance);
}

// Calls function() with one, two and three threads; whether all results are the same, bit by bit.
template <class Function>
bool isSameForAllThreads(const Function& function) {
  const int before = cpu::threadCount();
  cpu::setThreadCount(1);
  const Tensor one = function();
  bool same = true;
  for (const int threads : {2, 3}) {
    cpu::setThreadCount(threads);
    same = same && equal(function(), one);
  }
  cpu::setThreadCount(before);
  return same;
}

class FewRows : public testing::TestWithParam<ScalarType> {};

// Matrices that lie in the caches and that do not, with rows or columns one after another, with gaps between them.
TEST_P(FewRows, ReadMatricesOfAnyKind) {
  manualSeed(3);
  const ScalarType type = GetParam();
  const double tolerance = type == ScalarType::Double ? 1e-12 : 2e-4;
  for (const auto& [depth, columns] :
       {std::pair<int64_t, int64_t>{1, 1}, {5, 15}, {8, 16}, {9, 17}, {31, 40}, {701, 603}, {1100, 259}}) {
    for (const int64_t rows : {1, 2, 3}) {
      const Tensor a = randn({rows, depth}, type);
      const Tensor bias = randn({columns}, type);
      for (const Tensor& b : {randn({depth, columns}, type), t(randn({columns, depth}, type)),
                              narrow(randn({depth, columns + 3}, type), 1, 2, columns),
                              t(narrow(randn({columns, depth + 5}, type), 1, 1, depth))}) {
        SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(depth) + " " + std::to_string(columns));
        const Tensor expected = productInDoubles(a, b);
        EXPECT_TRUE(isClose(mm(a, b), expected, tolerance));
        const Tensor sum = add(mul(to(bias, ScalarType::Double), 0.5), mul(expected, -2.0));
        EXPECT_TRUE(isClose(addmm(bias, a, b, 0.5, -2.0), sum, tolerance));
        EXPECT_TRUE(isSameForAllThreads([&] { return addmm(bias, a, b, 0.5, -2.0); }));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, FewRows, testing::Values(ScalarType::Float, ScalarType::Double));

}  // namespace
}  // namespace boxcar
