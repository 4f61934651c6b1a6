#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/composite/fused_expressions.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <boxcar/dispatcher/handlers/trace/tracer.h>
#include <boxcar/ivalue/default_generators.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/temporary_folder.h"

namespace boxcar {
namespace {

using Tensors = std::vector<Tensor>;

Tensor fused(const std::string& expression, const Tensors& inputs) { return fused::pointwise(expression, inputs); }

// Returns the result of the operators called one after the other, and adds their names to [names].
Tensor separate(const std::string& expression, const Tensors& inputs, std::vector<std::string>* names = nullptr) {
  const ModeGuard mode([names](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    if (names != nullptr) names->push_back(op.operator_name().name);
    op.redispatchBoxed(keys, stack);
  });
  return fused::pointwise(expression, inputs);
}

bool isNear(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return std::signbit(a) == std::signbit(b);
  return std::abs(a - b) <= 2e-7f * std::abs(b);
}

// Returns "" if the fused form and the separate operators give tensors of the same dtype, sizes, strides and elements.
std::string difference(const std::string& expression, const Tensors& inputs) {
  const Tensor got = fused(expression, inputs);
  const Tensor expected = separate(expression, inputs);
  if (shapeText(got) != shapeText(expected)) return shapeText(got) + " instead of " + shapeText(expected);
  if (stridesOf(got) != stridesOf(expected))
    return fmt::format("strides {} instead of {}", fmt::join(got.strides(), ", "), fmt::join(expected.strides(), ", "));
  if (got.scalar_type() != ScalarType::Float) return equal(got, expected) ? "" : "other elements";
  const std::vector<float> a = elements<float>(got);
  const std::vector<float> b = elements<float>(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    if (!isNear(a[i], b[i])) return fmt::format("element {} is {} instead of {}", i, a[i], b[i]);
  }
  return "";
}

// Whether the fused form is a program, which calls no operators: an observer sees none.
bool isProgram(const std::string& expression, ScalarType dtype = ScalarType::Float) {
  const auto& programs = composite::fusedExpression(expression)->programs;
  return std::ranges::any_of(programs, [&](const auto& program) { return program.dtype == dtype; });
}

// Numbers of all kinds: more than a vector, and not a multiple of one.
Tensor specialValues() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values;
  for (const float magnitude : {0.0f,
                                Limits::denorm_min(),
                                1e-40f,
                                Limits::min(),
                                1e-8f,
                                0.3f,
                                0.5f,
                                1.0f,
                                1.5f,
                                2.5f,
                                3.0f,
                                6.0f,
                                20.5f,
                                88.0f,
                                89.0f,
                                104.0f,
                                1e4f,
                                16777217.0f,
                                1e10f,
                                1e30f,
                                Limits::max(),
                                Limits::infinity(),
                                Limits::quiet_NaN()}) {
    values.push_back(magnitude);
    values.push_back(-magnitude);
  }
  const Tensor result = zeros({static_cast<int64_t>(values.size())});
  std::memcpy(result.data_ptr(), values.data(), values.size() * sizeof(float));
  return result;
}

const std::vector<std::string>& functionsOfOne() {
  static const std::vector<std::string> all = {"exp(a)",
                                               "expm1(a)",
                                               "log(a)",
                                               "log1p(a)",
                                               "log2(a)",
                                               "sqrt(a)",
                                               "rsqrt(a)",
                                               "square(a)",
                                               "abs(a)",
                                               "neg(a)",
                                               "sign(a)",
                                               "reciprocal(a)",
                                               "sin(a)",
                                               "cos(a)",
                                               "tanh(a)",
                                               "sigmoid(a)",
                                               "erf(a)",
                                               "relu(a)",
                                               "relu6(a)",
                                               "silu(a)",
                                               "selu(a)",
                                               "gelu(a)",
                                               "gelu_tanh(a)",
                                               "hardswish(a)",
                                               "hardsigmoid(a)",
                                               "softplus(a)",
                                               "softplus(a, 2.0, 10)",
                                               "mish(a)",
                                               "elu(a)",
                                               "elu(a, 0.5)",
                                               "elu(a, 0.5, 2, 3.0)",
                                               "leaky_relu(a)",
                                               "leaky_relu(a, 0.2)",
                                               "hardtanh(a)",
                                               "hardtanh(a, -2.0, 3)",
                                               "clamp(a, -0.5, 2)",
                                               "clamp(a, None, 1.5)",
                                               "clamp(a, 1, None)",
                                               "clamp_min(a, 0.5)",
                                               "clamp_max(a, -1)",
                                               "floor(a)",
                                               "ceil(a)",
                                               "round(a)",
                                               "trunc(a)",
                                               "-a",
                                               "a + 1",
                                               "1 + a",
                                               "a - 2.5",
                                               "2.5 - a",
                                               "a * 3",
                                               "0.1 * a",
                                               "a / 3",
                                               "1 / a",
                                               "a ** 2",
                                               "a ** 3.0",
                                               "a ** 0.5",
                                               "a ** -0.5",
                                               "a ** -1",
                                               "a ** -2.0",
                                               "a ** 1.7",
                                               "a ** 0",
                                               "2 ** a",
                                               "2.5 ** a",
                                               "pow(a, 2.0)",
                                               "a < 1",
                                               "1 < a",
                                               "a <= 1.0",
                                               "a >= -1",
                                               "a == 0",
                                               "0.0 != a",
                                               "where(a > 0, a, -1.0)",
                                               "where(a > 0, 2.0, a)",
                                               "where(a != a, 1.0, 2)",
                                               "masked_fill(a, a < 0, 0)",
                                               "masked_fill(a, a > 1.0, -inf)",
                                               "a + nan",
                                               "a * inf"};
  return all;
}

const std::vector<std::string>& functionsOfTwo() {
  static const std::vector<std::string> all = {"a + b",
                                               "a - b",
                                               "a * b",
                                               "a / b",
                                               "a ** b",
                                               "pow(a, b)",
                                               "minimum(a, b)",
                                               "maximum(a, b)",
                                               "clamp(a, b, None)",
                                               "clamp(a, None, b)",
                                               "clamp(a, b, a)",
                                               "clamp_min(a, b)",
                                               "clamp_max(a, b)",
                                               "a < b",
                                               "a <= b",
                                               "a > b",
                                               "a >= b",
                                               "a == b",
                                               "a != b",
                                               "where(a < b, a, b)",
                                               "masked_fill(a, b > 0, 0.5)"};
  return all;
}

TEST(FusedPointwise, FunctionsAreThoseOfTheOperatorsForAllKindsOfNumbers) {
  const Tensor x = specialValues();
  for (const std::string& expression : functionsOfOne()) {
    EXPECT_TRUE(isProgram(expression)) << expression;
    EXPECT_EQ(difference(expression, {x}), "") << expression;
  }
}

TEST(FusedPointwise, FunctionsOfTwoAreThoseOfTheOperators) {
  const Tensor x = specialValues();
  const int64_t n = x.numel();
  const Tensor every = contiguous(expand(unsqueeze(x, 1), {n, n}));
  const Tensor other = contiguous(expand(x, {n, n}));
  for (const std::string& expression : functionsOfTwo()) {
    EXPECT_TRUE(isProgram(expression)) << expression;
    EXPECT_EQ(difference(expression, {every, other}), "") << expression;
    EXPECT_EQ(difference(expression, {unsqueeze(x, 1), x}), "") << expression;
  }
}

TEST(FusedPointwise, ReadsPrecedenceAsPythonDoes) {
  const Tensor x = floats({2});
  const auto value = [&](const char* expression) { return fused(expression, {x}).data_ptr<float>()[0]; };
  EXPECT_EQ(value("-a ** 2"), -4);
  EXPECT_EQ(value("2 ** -a"), 0.25f);
  EXPECT_EQ(value("a ** a ** 3"), 256);
  EXPECT_EQ(value("a - 1 - 3"), -2);
  EXPECT_EQ(value("a / 2 * 4"), 4);
  EXPECT_EQ(value("1 + a * 3"), 7);
  EXPECT_EQ(value("(1 + a) * 3"), 9);
  EXPECT_EQ(value("--a"), 2);
  EXPECT_EQ(value(" a\n+ 1.5e0 * .5 "), 2.75f);
  EXPECT_TRUE(fused("a + 1 < 2 * a", {x}).scalar_type() == ScalarType::Bool);
}

TEST(FusedPointwise, ComputesNumbersAsPythonDoes) {
  const Tensor x = ints({10});
  EXPECT_EQ(toString(fused("a * (7 - 2 ** 3)", {x})), "tensor([-10])");
  EXPECT_EQ(toString(fused("a * (1 / 2)", {x})), "tensor([5.])");
  EXPECT_EQ(fused("a * (2 ** -1)", {x}).scalar_type(), ScalarType::Float);
  EXPECT_EQ(toString(fused("a * 1.5e400", {floats({1, -1})})), "tensor([inf, -inf])");
  EXPECT_EQ(toString(fused("a * 0.1e-400 + a * 1e-5000", {floats({1})})), "tensor([0.])");
}

// Expressions of the inputs a, b and c.
class RandomExpressions final {
 public:
  explicit RandomExpressions(uint32_t seed) : random_(seed) {}

  std::string next(int depth) {
    static const std::vector<std::string> kFunctions = {"exp",       "tanh", "sigmoid",  "relu",   "silu",
                                                        "gelu",      "sin",  "abs",      "square", "floor",
                                                        "hardswish", "mish", "softplus", "erf"};
    if (depth == 0) return draw(4) == 0 ? fmt::format("{}", 0.25 * (draw(20) + 1)) : std::string(1, "abc"[draw(3)]);
    switch (draw(9)) {
      case 0: return fmt::format("{}({})", kFunctions[draw(kFunctions.size())], tensor(depth - 1));
      case 1: return fmt::format("-{}", parenthesised(depth - 1));
      case 2:
        return fmt::format("where({} < {}, {}, {})", tensor(depth - 1), next(depth - 1), tensor(depth - 1), next(0));
      case 3: return fmt::format("maximum({}, {})", tensor(depth - 1), tensor(depth - 1));
      case 4: return fmt::format("clamp({}, -2.0, {})", tensor(depth - 1), draw(4));
      default: return fmt::format("{} {} {}", parenthesised(depth - 1), "+-*/"[draw(4)], parenthesised(depth - 1));
    }
  }
  // One that depends on an input.
  std::string tensor(int depth) { return fmt::format("({} + {})", next(depth), "abc"[draw(3)]); }

 private:
  std::string parenthesised(int depth) { return fmt::format("({})", next(depth)); }
  size_t draw(size_t count) { return random_() % count; }

  std::mt19937 random_;
};

TEST(FusedPointwise, RandomExpressionsAreTheirOperators) {
  manualSeed(3);
  const Tensors inputs = {randn({3, 5, 7}), randn({7}), randn({3, 1, 1})};
  RandomExpressions random(11);
  int programs = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string expression = random.tensor(i % 6);
    programs += isProgram(expression);
    EXPECT_EQ(difference(expression, inputs), "") << expression;
  }
  EXPECT_GT(programs, 250);
}

// float16 and bfloat16, which have programs of their own.
constexpr ScalarType kSmallFloats[] = {ScalarType::Half, ScalarType::BFloat16};

// Returns "" if both forms give the same bits. NaNs may differ.
std::string differenceInBits(const std::string& expression, const Tensors& inputs) {
  const Tensor got = fused(expression, inputs);
  const Tensor expected = separate(expression, inputs);
  if (shapeText(got) != shapeText(expected)) return shapeText(got) + " instead of " + shapeText(expected);
  if (stridesOf(got) != stridesOf(expected)) return "other strides";
  if (got.scalar_type() == ScalarType::Bool) return equal(got, expected) ? "" : "other elements";
  const std::vector<float> a = elements<float>(to(got, ScalarType::Float));
  const std::vector<float> b = elements<float>(to(expected, ScalarType::Float));
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]))
      return fmt::format("element {} is {} instead of {}", i, a[i], b[i]);
  }
  return "";
}

// All numbers of a dtype of 16 bits.
Tensor allNumbers(ScalarType dtype) {
  std::vector<uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), uint16_t{0});
  const Tensor result = zeros({65536}, dtype);
  std::memcpy(result.data_ptr(), bits.data(), bits.size() * sizeof(uint16_t));
  return result;
}

TEST(FusedPointwise, SmallFloatsAreRoundedAfterEachOperator) {
  for (const ScalarType dtype : kSmallFloats) {
    const Tensor x = allNumbers(dtype);
    for (const std::string& expression : functionsOfOne()) {
      if (expression.find("1.0, 2)") != std::string::npos) continue;  // of numbers alone, so float32
      EXPECT_TRUE(isProgram(expression, dtype)) << expression;
      EXPECT_EQ(differenceInBits(expression, {x}), "") << expression << dtype;
    }
    // Each would have other bits if it were rounded at its end only.
    for (const char* expression : {"(a + 0.1) * 3.0 - a", "tanh(a * 0.3) / 1.7 + a * a",
                                   "hardtanh(a, -0.3, 0.7) + 256.0", "exp(a) / exp(a + 1)"})
      EXPECT_EQ(differenceInBits(expression, {x}), "") << expression << dtype;
  }
  EXPECT_EQ(to(fused("(a + 0.001) - a", {ones({1}, ScalarType::BFloat16)}), ScalarType::Float).data_ptr<float>()[0], 0);
  EXPECT_EQ(
      to(fused("a * 300.0 / 300.0", {mul(ones({1}, ScalarType::Half), 300)}), ScalarType::Float).data_ptr<float>()[0],
      std::numeric_limits<float>::infinity());
}

TEST(FusedPointwise, RandomExpressionsOfSmallFloatsAreTheirOperators) {
  manualSeed(4);
  for (const ScalarType dtype : kSmallFloats) {
    const Tensors inputs = {to(randn({3, 5, 47}), dtype), to(randn({47}), dtype), to(randn({3, 1, 1}), dtype)};
    RandomExpressions random(12);
    int programs = 0;
    for (int i = 0; i < 300; ++i) {
      const std::string expression = random.tensor(i % 6);
      programs += isProgram(expression, dtype);
      EXPECT_EQ(differenceInBits(expression, inputs), "") << expression << dtype;
    }
    EXPECT_GT(programs, 250);
  }
}

TEST(FusedPointwise, SmallFloatsBroadcastAndKeepTheOrderInMemory) {
  manualSeed(6);
  const auto channelsLast = [](IntArrayRef sizes) { return contiguous(randn(sizes), MemoryFormat::ChannelsLast); };
  const std::vector<Tensors> all = {
      {randn({4, 300}), randn({300}), randn({4, 1})},
      {randn({70, 33}), randn({33}), randn({})},
      {randn({}), randn({}), randn({})},
      {randn({9}), randn({}), randn({9})},
      {randn({5000}), randn({}), randn({1})},
      {randn({0, 3}), randn({3}), randn({1})},
      {randn({2, 8, 40, 41}), randn({2, 8, 1, 1}), randn({2, 1, 40, 41})},
      {channelsLast({2, 8, 7, 7}), randn({2, 8, 1, 1}), channelsLast({2, 8, 7, 7})},
      {channelsLast({2, 3, 30, 30}), randn({3, 1, 1}), randn({2, 3, 30, 30})},
      {t(randn({60, 70})), randn({70, 60}), randn({70, 1})},
      {slice(randn({50, 60}), 1, 0, std::nullopt, 2), randn({30}), t(randn({30, 50}))},
      {expand(randn({6, 1}), {6, 2500}), randn({6, 1}), randn({1, 2500})},
  };
  for (const ScalarType dtype : kSmallFloats) {
    for (const Tensors& floats : all) {
      Tensors inputs;
      for (const Tensor& input : floats) inputs.push_back(to(input, dtype));
      for (const char* expression :
           {"a * b + c", "tanh(a) * (b + 1.0)", "where(a > c, b, 2.0 ** a)", "masked_fill(a * b, c > 0, 0.1) + a",
            "(a + b) < c", "a + b > c", "maximum(a * 3.0, -b) - c"}) {
        EXPECT_EQ(differenceInBits(expression, inputs), "")
            << expression << " of " << dtype << shapeText(inputs[0]) << " " << shapeText(inputs[1]) << " "
            << shapeText(inputs[2]);
      }
    }
  }
}

TEST(FusedPointwise, SmallFloatsTakeConditionsAndRefuseNumbersOutOfTheirRange) {
  for (const ScalarType dtype : kSmallFloats) {
    const Tensor condition = gt(randn({40, 50}), 0);
    const Tensor x = to(randn({40, 50}), dtype);
    EXPECT_EQ(differenceInBits("where(a, b, 0.1) * 2.0", {condition, x}), "");
    EXPECT_EQ(differenceInBits("masked_fill(b, a, -inf) + b", {t(condition), t(x)}), "");
    EXPECT_EQ(differenceInBits("where(a, 1.0, 2.0) * b", {condition, x}), "");
    EXPECT_FALSE(isProgram("a * 1e39", dtype));
  }
  EXPECT_FALSE(isProgram("a * 65505.0", ScalarType::Half));
  EXPECT_TRUE(isProgram("a * 65504.0", ScalarType::Half));
  EXPECT_EQ(differenceInBits("a * 70000.0", {ones({3}, ScalarType::Half)}), "");
}

TEST(FusedPointwise, BroadcastsAndKeepsTheOrderInMemory) {
  manualSeed(5);
  const auto channelsLast = [](IntArrayRef sizes) { return contiguous(randn(sizes), MemoryFormat::ChannelsLast); };
  const std::vector<Tensors> all = {
      {randn({4, 300}), randn({300}), randn({4, 1})},
      {randn({70, 33}), randn({33}), randn({})},
      {randn({}), randn({}), randn({})},
      {randn({5000}), randn({}), randn({1})},
      {randn({0, 3}), randn({3}), randn({1})},
      {randn({2, 8, 7, 7}), randn({2, 8, 1, 1}), randn({8, 1, 1})},
      {randn({2, 8, 40, 41}), randn({2, 8, 1, 1}), randn({2, 1, 40, 41})},
      {channelsLast({2, 8, 7, 7}), randn({2, 8, 1, 1}), channelsLast({2, 8, 7, 7})},
      {channelsLast({2, 3, 30, 30}), randn({3, 1, 1}), randn({2, 3, 30, 30})},
      {randn({8, 1, 1}), channelsLast({2, 8, 7, 7}), randn({})},
      {t(randn({60, 70})), t(randn({60, 70})), randn({60})},
      {t(randn({60, 70})), randn({70, 60}), randn({70, 1})},
      {slice(randn({50, 60}), 1, 0, std::nullopt, 2), randn({30}), t(randn({30, 50}))},
      {permute(randn({3, 4, 5, 6}), {2, 0, 3, 1}), randn({5, 1, 6, 1}), randn({4})},
      {expand(randn({6, 1}), {6, 2500}), randn({6, 1}), randn({1, 2500})},
      {randn({1, 9, 1}), randn({4, 1, 1}), randn({1, 1, 5})},
      {randn({2, 1, 3, 3}), contiguous(randn({2, 1, 3, 3}), MemoryFormat::ChannelsLast), randn({1})},
  };
  for (const Tensors& inputs : all) {
    for (const char* expression :
         {"a * b + c", "tanh(a) * (b + 1.0)", "where(a > c, b, 2.0 ** a)", "masked_fill(a * b, c > 0, 0.0) + a",
          "2.0 ** a * b + (c > b) * 1.0", "(a + b) < c"}) {
      EXPECT_EQ(difference(expression, inputs), "")
          << expression << " of " << shapeText(inputs[0]) << " " << shapeText(inputs[1]) << " " << shapeText(inputs[2]);
    }
  }
}

TEST(FusedPointwise, ConditionsMayBeInputs) {
  const Tensor condition = gt(randn({4, 5}), 0);
  const Tensor x = randn({4, 5});
  EXPECT_EQ(difference("where(a, b, 0.0) * 2.0", {condition, x}), "");
  EXPECT_EQ(difference("masked_fill(b, a, -inf) + b", {condition, x}), "");
  EXPECT_EQ(difference("where(a, b, 1.0)", {select(condition, 0, 1), x}), "");
  EXPECT_EQ(difference("where(a, b, 1.0)", {t(condition), t(x)}), "");
  // Read as a number, too.
  EXPECT_EQ(difference("where(a, b, 1.0) + a", {condition, x}), "");
  EXPECT_EQ(errorOf([&] {
              fused("where(a, b, 1.0)", {x, x});
            }),
            "where expected condition to be a boolean tensor, but got a tensor with dtype Float");
}

TEST(FusedPointwise, OtherDtypesArePromotedAsByTheOperators) {
  const Tensor x = randn({6});
  for (const ScalarType dtype : {ScalarType::Double, ScalarType::Half, ScalarType::BFloat16, ScalarType::Long,
                                 ScalarType::Byte, ScalarType::Bool}) {
    const Tensor y = to(mul(x, 3), dtype);
    for (const char* expression : {"a * b + 1", "1 / b + a", "b * 2 < a", "1.5 * b + b", "where(b > 0, b, 2)"})
      EXPECT_EQ(difference(expression, {x, y}), "") << expression << dtype;
  }
  EXPECT_EQ(fused("a * 2", {ints({1, 2})}).scalar_type(), ScalarType::Long);
  EXPECT_EQ(fused("where(a > 1, 1, 0)", {x}).scalar_type(), ScalarType::Long);
  EXPECT_EQ(fused("1 / a", {ones({2}, ScalarType::Half)}).scalar_type(), ScalarType::Half);
  EXPECT_EQ(fused("a + b", {x, scalar_tensor(1.0, ScalarType::Double)}).scalar_type(), ScalarType::Float);
}

TEST(FusedPointwise, GradientsAreThoseOfTheOperators) {
  const auto gradient = [](const auto& function) {
    const Tensor x = floats({-1.5, 0.25, 2});
    autograd::setRequiresGrad(x);
    const Tensor y = function(x);
    EXPECT_TRUE(y.requires_grad());
    return elements<float>(autograd::grad(Tensors{sum(y)}, Tensors{x})[0]);
  };
  const auto got = gradient([](const Tensor& x) { return fused("a * sigmoid(a) + exp(a) * a ** 2", {x}); });
  const auto expected = gradient([](const Tensor& x) { return add(mul(x, sigmoid(x)), mul(exp(x), pow(x, 2))); });
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(got[i], expected[i]);
}

TEST(FusedPointwise, MetaTensorsHaveTheResultsSizes) {
  const Tensor x = empty({4, 1}, ScalarType::Float, Layout::Strided, Device("meta"));
  const Tensor y = empty({3}, ScalarType::Double, Layout::Strided, Device("meta"));
  EXPECT_TRUE(fused("a * b + 1", {x, y}).is_meta());
  EXPECT_EQ(shapeText(fused("a * b + 1", {x, y})), "float64[4, 3]");
}

TEST(FusedPointwise, HandlersSeeTheOperatorsInsteadOfIt) {
  std::vector<std::string> names;
  separate("a * sigmoid(a) + 1.0 / b", {floats({1}), floats({2})}, &names);
  EXPECT_EQ(names, (std::vector<std::string>{"aten::sigmoid", "aten::mul", "aten::div", "aten::add"}));
}

TEST(FusedPointwise, ModesBelowAutogradSeeTheOperatorsToo) {
  std::vector<std::string> names;
  const auto note = [&](const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
    names.push_back(op.operator_name().name);
    op.redispatchBoxed(keys, stack);
  };
  const ModeGuard mode(note, {.key = DispatchKey::Python});
  fused("a * 2.0 - a", {floats({1})});
  EXPECT_EQ(names, (std::vector<std::string>{"aten::mul", "aten::sub"}));
}

TEST(FusedPointwise, TracesHaveTheOperators) {
  const TemporaryFolder folder;
  Tracer tracer(folder / "trace.ops");
  {
    const HandlerGuard guard(tracer);
    fused("a * 2.0 - a", {floats({1})});
  }
  tracer.finish(/*failed=*/false);
  const std::string text = folder.read("trace.ops");
  EXPECT_NE(text.find("aten::mul"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::sub"), std::string::npos) << text;
  EXPECT_EQ(text.find("fused::pointwise"), std::string::npos) << text;
}

TEST(FusedPointwise, ObserversSeeTheOperatorsBelowIt) {
  std::vector<std::string> names;
  const CallbackHandle handle = addThreadLocalCallback(
      RecordFunctionCallback([&](const RecordFunction& call) -> std::unique_ptr<ObserverContext> {
        names.push_back(call.name());
        return nullptr;
      }));
  fused("a * a + 1.0", {floats({1})});
  removeCallback(handle);
  EXPECT_EQ(names, (std::vector<std::string>{"fused::pointwise", "aten::mul.Tensor", "aten::add.Scalar"}));
}

TEST(FusedPointwise, EqualPartsAreComputedOnce) {
  std::vector<std::string> names;
  separate("exp(a + 1) * exp(a + 1)", {floats({1})}, &names);
  EXPECT_EQ(names, (std::vector<std::string>{"aten::add", "aten::exp", "aten::mul"}));
}

TEST(FusedPointwise, InputsStayAsTheyAre) {
  const Tensor x = counting({3000});
  const Tensor y = fused("(a + 1.0) * 2.0 - a", {x});
  EXPECT_TRUE(equal(x, counting({3000})));
  EXPECT_FALSE(y.data_ptr() == x.data_ptr());
}

TEST(FusedPointwise, ErrorsAreThoseOfTheOperators) {
  EXPECT_EQ(errorOf([] {
              fused("a + b", {zeros({3}), zeros({4})});
            }),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0");
  EXPECT_EQ(errorOf([] { fused("exp(a)", {Tensor()}); }), errorOf([] { exp(Tensor()); }));
}

TEST(FusedPointwise, SeveralThreadsGiveTheSame) {
  const int before = cpu::threadCount();
  const Tensors inputs = {randn({300, 1000}), randn({1000}), t(randn({1000, 300}))};
  for (const char* expression : {"a * b + c", "gelu(a) * tanh(b) + sin(c) ** 2"}) {
    cpu::setThreadCount(1);
    const Tensor one = fused(expression, inputs);
    cpu::setThreadCount(2);
    EXPECT_TRUE(equal(fused(expression, inputs), one)) << expression;
  }
  cpu::setThreadCount(before);
}

TEST(FusedPointwise, MayBeCalledOnTwoThreads) {
  const Tensor x = counting({100});
  const auto work = [&] {
    for (int i = 0; i < 2000; ++i) {
      const Tensor y = fused(fmt::format("a + {}", i), {x});
      EXPECT_EQ(y.data_ptr<float>()[7], static_cast<float>(7 + i));
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(FusedPointwise, KeepsALimitedNumberOfExpressions) {
  const Tensor x = floats({1});
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(fused(fmt::format("a * 2 + {}", i), {x}).data_ptr<float>()[0], static_cast<float>(2 + i));
    EXPECT_LE(composite::keptFusedExpressions(), composite::kMostFusedExpressions);
  }
  EXPECT_GT(composite::keptFusedExpressions(), 0u);
}

TEST(FusedPointwise, ATextAtTheSameAddressMayChange) {
  std::string text = "a + 1";
  EXPECT_EQ(fused(text, {floats({1})}).data_ptr<float>()[0], 2);
  text[4] = '5';
  EXPECT_EQ(fused(text, {floats({1})}).data_ptr<float>()[0], 6);
}

TEST(FusedPointwise, LargeExpressionsAreComputed) {
  std::string text = "a";
  for (int i = 0; i < 150; ++i) text = fmt::format("({} + b * {})", text, i);
  EXPECT_EQ(difference(text, {floats({1, 2}), floats({0.5, 0.25})}), "");
  std::string wide = "(a + 0)";
  for (int i = 1; i < 3000; ++i) wide += fmt::format(" + (a + {})", i);
  EXPECT_EQ(difference(wide, {floats({1, 2})}), "");
}

std::string errorFor(const std::string& expression) {
  return errorOf([&] { fused(expression, {floats({1}), floats({2})}); });
}

TEST(FusedPointwise, ErrorsInTheTextHaveAPositionAndSayWhatIsAllowed) {
  const std::string value = "expected a number, an input, a function's call, '-' or '('";
  EXPECT_EQ(errorFor("a +"), "fused::pointwise: at the end of the expression: " + value);
  EXPECT_EQ(errorFor(""), "fused::pointwise: at the end of the expression: " + value);
  EXPECT_EQ(errorFor("a * * 2"), "fused::pointwise: at position 5 of the expression, '* 2': " + value);
  EXPECT_EQ(errorFor("exp()"), "fused::pointwise: at position 5 of the expression, ')': " + value);
  EXPECT_EQ(errorFor("a b"), "fused::pointwise: at position 3 of the expression, 'b': expected an operator or the end");
  EXPECT_EQ(errorFor("a $ 2"),
            "fused::pointwise: at position 3 of the expression, '$ 2': expected an operator or the end");
  EXPECT_EQ(errorFor("(a"), "fused::pointwise: at the end of the expression: expected an operator or ')'");
  EXPECT_EQ(errorFor("exp(a"), "fused::pointwise: at the end of the expression: expected an operator, ',' or ')'");
  EXPECT_EQ(errorFor("a < b < a"),
            "fused::pointwise: at position 7 of the expression, '< a': expected an operator or the end");
}

TEST(FusedPointwise, ErrorsNameFunctionsAndInputs) {
  EXPECT_TRUE(errorFor("1 + hardtan(a)")
                  .starts_with("fused::pointwise: at position 5 of the expression, 'hardtan(a)': there is no function "
                               "hardtan. Did you mean 'hardtanh'? The functions are abs, ceil, clamp, "))
      << errorFor("1 + hardtan(a)");
  EXPECT_EQ(
      errorFor("exp"),
      "fused::pointwise: at position 1 of the expression, 'exp': the function exp needs arguments in parentheses");
  EXPECT_EQ(errorFor("a + x1"),
            "fused::pointwise: at position 5 of the expression, 'x1': there is no input x1; inputs are called a to z");
  EXPECT_EQ(errorFor("a + d * c"),
            "fused::pointwise: at position 5 of the expression, 'd * c': there is no input d, because the call has 2 "
            "inputs, a to b");
  EXPECT_EQ(errorOf([] { fused("exp(a)", {}); }),
            "fused::pointwise: at position 5 of the expression, 'a)': there is no input a, because the call has no "
            "inputs");
}

TEST(FusedPointwise, ErrorsNameArgumentsThatDoNotFit) {
  EXPECT_EQ(errorFor("exp(a, b)"),
            "fused::pointwise: at position 1 of the expression, 'exp(a, b)': exp(x) got 2 arguments");
  EXPECT_EQ(
      errorFor("hardtanh(a, 1, 2, 3)"),
      "fused::pointwise: at position 1 of the expression, 'hardtanh(a, 1, 2, 3)': hardtanh(x, low=-1, high=1) got "
      "4 arguments");
  EXPECT_EQ(errorFor("leaky_relu(a, b)"),
            "fused::pointwise: at position 1 of the expression, 'leaky_relu(a, b)': argument 2 of leaky_relu(x, "
            "slope=0.01) must be a number, not a tensor");
  EXPECT_EQ(errorFor("maximum(a, 0)"),
            "fused::pointwise: at position 1 of the expression, 'maximum(a, 0)': argument 2 of maximum(x, y) must be a "
            "tensor, not the number 0");
  EXPECT_EQ(errorFor("clamp_min(a, None)"),
            "fused::pointwise: at position 1 of the expression, 'clamp_min(a, None)': argument 2 of clamp_min(x, low) "
            "must be a tensor or a number, not None");
  EXPECT_EQ(errorFor("clamp(a, b, 1)"),
            "fused::pointwise: at position 1 of the expression, 'clamp(a, b, 1)': the bounds of clamp must be two "
            "tensors or two numbers, not one of each");
  EXPECT_EQ(errorFor("clamp(a, None, None)"), "clamp: at least one of 'min' or 'max' must not be None");
  EXPECT_EQ(errorFor("a + None"),
            "fused::pointwise: at position 3 of the expression, '+ None': + takes tensors and numbers, not None, which "
            "can be a bound of clamp only");
}

TEST(FusedPointwise, ErrorsTellWhichNumbersCannotBeComputed) {
  EXPECT_EQ(errorFor("a + 1 / 0"),
            "fused::pointwise: at position 7 of the expression, '/ 0': a number is divided by zero");
  EXPECT_EQ(errorFor("a + 10 ** 30"),
            "fused::pointwise: at position 8 of the expression, '** 30': the result of these ints has more than 64 "
            "bits; write them as floats");
  EXPECT_EQ(errorFor("a + 99999999999999999999"),
            "fused::pointwise: at position 5 of the expression, '99999999999999999999': this int has more than 64 "
            "bits; write it as a float");
  EXPECT_EQ(errorFor("where(1 < 2, a, b)"),
            "fused::pointwise: at position 9 of the expression, '< 2, a, b)': < compares two numbers; one of them must "
            "depend on an input");
  EXPECT_EQ(errorFor("2 * 3.5"),
            "fused::pointwise: the expression '2 * 3.5' has no operator on an input, such as \"a + 1.0\"");
  EXPECT_EQ(errorFor("a"), "fused::pointwise: the expression 'a' has no operator on an input, such as \"a + 1.0\"");
}

TEST(FusedPointwise, RefusesTextsThatAreTooLongOrTooDeep) {
  const std::string deep = std::string(201, '(') + "a" + std::string(201, ')');
  EXPECT_EQ(errorFor(deep),
            "fused::pointwise: at position 201 of the expression, '(a))))))))))))))))))))))))))))))))))))))'…: more "
            "than 200 parts are inside each other; split the expression into several calls");
  EXPECT_NE(errorFor(std::string(100000, '-') + "a"), "no error");
  EXPECT_EQ(errorFor(std::string(70000, ' ')),
            "fused::pointwise: the expression has 70000 bytes, but the longest has 65536; split it into several calls");
  EXPECT_NE(errorFor("a + \xc3\xa9"), "no error");
}

}  // namespace
}  // namespace boxcar
