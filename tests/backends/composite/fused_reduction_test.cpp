// fused::pointwise_reduce: a reduction at the end of a group of pointwise operators.

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/ivalue/default_generators.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Tensors = std::vector<Tensor>;
using Dims = std::optional<std::vector<int64_t>>;

const Dims kAll = std::nullopt;

Dims over(std::vector<int64_t> dims) { return dims; }

constexpr const char* kReductions[] = {"sum", "mean", "amax", "amin"};

Tensor reducedBy(const std::string& reduction, const std::string& expression, const Tensors& inputs, const Dims& dim,
                 bool keepdim) {
  const auto dims = dim ? std::optional<IntArrayRef>(*dim) : std::nullopt;
  return fused::pointwise_reduce(reduction, expression, inputs, dims, keepdim);
}

// Returns the result of the operators called one after the other, and adds their names to [names].
Tensor reducedByOperators(const std::string& reduction, const std::string& expression, const Tensors& inputs,
                          const Dims& dim, bool keepdim, std::vector<std::string>& names) {
  const ModeGuard mode([&names](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    names.push_back(op.operator_name().name);
    op.redispatchBoxed(keys, stack);
  });
  return reducedBy(reduction, expression, inputs, dim, keepdim);
}

void expectThatOfTheOperators(const std::string& expression, const Tensors& inputs, const Dims& dim) {
  for (const char* reduction : kReductions) {
    for (const bool keepdim : {false, true}) {
      std::vector<std::string> names;
      const Tensor expected = reducedByOperators(reduction, expression, inputs, dim, keepdim, names);
      const Tensor got = reducedBy(reduction, expression, inputs, dim, keepdim);
      EXPECT_EQ(shapeText(got), shapeText(expected));
      EXPECT_EQ(stridesOf(got), stridesOf(expected));
      EXPECT_TRUE(allclose(got, expected, 2e-6, 1e-6, /*equal_nan=*/true))
          << reduction << " of " << expression << " of " << shapeText(inputs[0]) << ": " << toString(got)
          << " instead of " << toString(expected);
      EXPECT_EQ(std::ranges::find(names, "fused::pointwise_reduce"), names.end());
      EXPECT_EQ(std::ranges::count(names, std::string("aten::") + reduction), 1);
    }
  }
}

TEST(FusedReduction, IsThatOfTheOperators) {
  manualSeed(7);
  const Tensors inputs = {randn({3, 4, 50}), randn({50}), randn({3, 1, 1})};
  for (const Dims& dim : {kAll, over({-1}), over({2}), over({1, 2}), over({-1, -2}), over({0, 1, 2}), over({1}),
                          over({0}), over({0, 2}), over({})}) {
    expectThatOfTheOperators("(a - b) ** 2", inputs, dim);
    expectThatOfTheOperators("tanh(a) * b + c", inputs, dim);
    expectThatOfTheOperators("c * 2.0 + b", inputs, dim);
  }
}

TEST(FusedReduction, OfLongAndShortRowsIsThatOfTheOperators) {
  manualSeed(8);
  for (const int64_t n : {1, 3, 16, 2047, 2048, 2049, 10000}) {
    for (const int64_t rows : {1, 5, 300}) {
      const Tensor x = randn({rows, n});
      expectThatOfTheOperators("a * a", {x}, over({1}));
      expectThatOfTheOperators("a * b + 1.0", {x, randn({rows, 1})}, over({1}));
      expectThatOfTheOperators("a * b", {x, randn({n})}, kAll);
    }
  }
}

TEST(FusedReduction, OfOtherTensorsIsThatOfTheOperators) {
  manualSeed(9);
  expectThatOfTheOperators("a * a", {t(randn({40, 30}))}, over({1}));
  expectThatOfTheOperators("a + b", {randn({6, 5, 1}), randn({6, 1, 7})}, over({1, 2}));
  expectThatOfTheOperators("a * b", {randn({}), randn({})}, kAll);
  expectThatOfTheOperators("a * b", {to(randn({4, 5}), ScalarType::Double), randn({5})}, over({1}));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  expectThatOfTheOperators("a * 2.0", {floats({1, kNan, 3, -std::numeric_limits<float>::infinity()})}, over({0}));
  const Tensors small = {to(randn({4, 50}), ScalarType::BFloat16)};
  std::vector<std::string> names;
  EXPECT_TRUE(equal(reducedBy("sum", "a * a", small, over({1}), false),
                    reducedByOperators("sum", "a * a", small, over({1}), false, names)));
  EXPECT_EQ(toString(reducedBy("sum", "a * a", {ints({1, 2, 3})}, kAll, false)), "tensor(14)");
}

TEST(FusedReduction, OfWhatCannotBeReducedIsAnError) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(
      errorOf([&] { reducedBy("prod", "a * a", {x}, kAll, false); }),
      "fused::pointwise_reduce: there is no reduction \"prod\"; there are \"sum\", \"mean\", \"amax\" and \"amin\"");
  for (const Dims& dim : {over({2}), over({1, 1}), over({-3})}) {
    EXPECT_EQ(errorOf([&] { reducedBy("sum", "a * a", {x}, dim, false); }),
              errorOf([&] { sum(x, IntArrayRef(*dim)); }));
  }
  EXPECT_EQ(errorOf([&] {
              reducedBy("amax", "a * a", {ones({2, 0})}, over({1}), false);
            }),
            errorOf([&] {
              amax(ones({2, 0}), IntArrayRef{1});
            }));
  EXPECT_NE(errorOf([&] { reducedBy("sum", "a * b", {x}, kAll, false); }), "");
}

}  // namespace
}  // namespace boxcar
