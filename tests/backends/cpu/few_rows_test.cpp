// Products of a few rows with matrices that are read as they are, and with packed weights.

#include <boxcar/backends/cpu/panel_kernels.h>
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

class PackedRows : public testing::TestWithParam<ScalarType> {};

// Numbers of inputs and outputs that fill panels and do not, and all numbers of rows around what panels are read for.
TEST_P(PackedRows, AreThoseOfAPlainLoop) {
  manualSeed(5);
  const ScalarType type = GetParam();
  const double tolerance = type == ScalarType::Float ? 1e-4 : 1e-2;
  for (const auto& [inputs, outputs] :
       {std::pair<int64_t, int64_t>{1, 2}, {7, 16}, {16, 17}, {33, 31}, {48, 40}, {65, 64}, {100, 200}, {515, 65}}) {
    for (int64_t rows = 1; rows <= cpu::kMostPanelRows + 1; ++rows) {
      SCOPED_TRACE(std::to_string(rows) + " " + std::to_string(inputs) + " " + std::to_string(outputs));
      const Tensor x = to(randn({rows, inputs}), type);
      const Tensor bias = to(randn({outputs}), type);
      const Tensor added = to(randn({rows, outputs}), type);
      for (const Tensor& w : {to(randn({outputs, inputs}), type), t(to(randn({inputs, outputs}), type))}) {
        const Tensor product = productInDoubles(x, t(w));
        const Tensor with_bias = add(product, to(bias, ScalarType::Double));
        EXPECT_TRUE(isClose(fused::linear(x, w), product, tolerance));
        EXPECT_TRUE(isClose(fused::linear(x, w, bias), with_bias, tolerance));
        EXPECT_TRUE(
            isClose(fused::linear(x, w, bias, added), add(with_bias, to(added, ScalarType::Double)), tolerance));
        EXPECT_TRUE(
            isClose(fused::linear(x, w, std::nullopt, added), add(product, to(added, ScalarType::Double)), tolerance));
      }
    }
  }
}

TEST_P(PackedRows, AreEqualForAnyNumberOfThreads) {
  manualSeed(6);
  for (const int64_t rows : {1, 5, 8}) {
    const Tensor x = to(randn({rows, 500}), GetParam());
    const Tensor w = to(randn({1300, 500}), GetParam());
    const Tensor bias = to(randn({1300}), GetParam());
    fused::linear(to(randn({4, 500}), GetParam()), w);  // packs it
    EXPECT_TRUE(isSameForAllThreads([&] { return fused::linear(x, w, bias); }));
  }
}

// A copy that products of more rows have made is read by those of few, and follows the weight's changes.
TEST_P(PackedRows, SeeWhatIsWrittenToTheWeight) {
  manualSeed(7);
  const Tensor x = to(randn({2, 600}), GetParam());
  Tensor w = to(randn({1000, 600}), GetParam());
  fused::linear(to(randn({40, 600}), GetParam()), w);
  const Tensor before = fused::linear(x, w);
  mul_(w, 2);
  const Tensor expected = mul(to(before, ScalarType::Double), 2);
  EXPECT_TRUE(isClose(fused::linear(x, w), expected, 1e-2));
  fused::linear(to(randn({40, 600}), GetParam()), w);
  EXPECT_TRUE(isClose(fused::linear(x, w), expected, 1e-2));
}

INSTANTIATE_TEST_SUITE_P(Types, PackedRows, testing::Values(ScalarType::Float, ScalarType::BFloat16));

}  // namespace
}  // namespace boxcar
