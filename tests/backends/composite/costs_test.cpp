#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/dispatcher/handlers/cost/cost_helpers.h"

namespace boxcar {
namespace {

TEST(Costs, ProductsAreTwoOperationsForEachPairOfFactors) {
  const Tensor a = ones({3, 4});
  const Tensor b = ones({4, 5});
  EXPECT_EQ(workOf("aten::mm", [&] { mm(a, b); }).flops, 2 * 3 * 4 * 5);
  EXPECT_EQ(workOf("aten::mm", [&] { mm(a, b); }).bytes, 4 * (12 + 20 + 15));
  EXPECT_EQ(workOf("aten::addmm", [&] { addmm(ones({5}), a, b); }).flops, 2 * 3 * 4 * 5 + 3 * 15);
  EXPECT_EQ(workOf("aten::bmm", [&] { bmm(ones({2, 3, 4}), ones({2, 4, 5})); }).flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(workOf("aten::mv", [&] { mv(a, ones({4})); }).flops, 2 * 3 * 4);
  EXPECT_EQ(workOf("aten::dot", [&] { dot(ones({7}), ones({7})); }).flops, 14);
}

TEST(Costs, ConvolutionsMultiplyKernelsAndWindows) {
  const Tensor x = ones({2, 4, 5, 5});
  const Tensor w = ones({6, 2, 3, 3});
  const auto conv = [&](const std::optional<Tensor>& bias) { conv2d(x, w, bias, {1}, IntArrayRef{0}, {1}, 2); };
  EXPECT_EQ(workOf("aten::convolution", [&] { conv(std::nullopt); }).flops, 2 * 2 * 6 * 3 * 3 * 2 * 9);
  EXPECT_EQ(workOf("aten::convolution", [&] { conv(ones({6})); }).flops, 2 * 2 * 6 * 3 * 3 * 2 * 9 + 2 * 6 * 9);
  const auto transposed = [&] { conv_transpose2d(x, ones({4, 3, 2, 2}), std::nullopt, {1}, {0}, {0}, 1, {1}); };
  EXPECT_EQ(workOf("aten::convolution", transposed).flops, 2 * 2 * 4 * 25 * 3 * 4);
}

TEST(Costs, FusedOperatorsCostWhatTheyStandFor) {
  const Tensor x = ones({2, 4, 5, 5});
  const Tensor w = ones({6, 4, 3, 3});
  const auto conv = [&](const std::optional<Tensor>& added) {
    fused::convolution(x, w, ones({6}), {}, {}, {}, {}, 1e-5, {1}, IntArrayRef{0}, {1}, 1, added, "relu");
  };
  const double products = 2 * 2 * 6 * 3 * 3 * 4 * 9;
  const double each = 2 * 6 * 9;
  // In one kernel, or in the operators beneath.
  const auto total = [](const auto& body) {
    double flops = 0;
    for (const char* name : {"fused::convolution", "fused::linear", "aten::convolution", "aten::add.Tensor",
                             "aten::relu", "aten::addmm"}) {
      flops += workOf(name, body).flops;
    }
    return flops;
  };
  EXPECT_EQ(total([&] { conv(std::nullopt); }), products + 2 * each);
  EXPECT_EQ(total([&] { conv(ones({2, 6, 3, 3})); }), products + 3 * each);
  EXPECT_EQ(total([&] { conv(ones({6, 1, 1})); }), products + 3 * each);
  EXPECT_EQ(total([&] { fused::linear(ones({3, 4}), ones({5, 4}), {}, {}, "relu"); }), 2 * 3 * 4 * 5 + 15);
}

TEST(Costs, PoolsLookAtEachElementOfAWindow) {
  const Tensor x = ones({1, 2, 4, 6});
  EXPECT_EQ(workOf("aten::avg_pool2d", [&] { avg_pool2d(x, {2, 3}, {}, {0}); }).flops, 6 * 8);
  EXPECT_EQ(workOf("aten::avg_pool2d", [&] { avg_pool2d(x, {2}, {}, {0}); }).flops, 4 * 12);
}

TEST(Costs, ProductsThatAreMadeOfOthersHaveNoneOfTheirOwn) {
  const auto body = [] { linear(ones({3, 4}), ones({5, 4})); };
  EXPECT_EQ(workOf("aten::linear", body).leaves, 0U);
  EXPECT_EQ(workOf("aten::linear", body).flops, 0);
}

TEST(Costs, AttentionMultipliesWhatQueriesSee) {
  const Tensor x = ones({2, 3, 4, 8});
  const Tensor y = ones({2, 3, 5, 8});
  constexpr const char* kName = "aten::_scaled_dot_product_flash_attention_for_cpu";
  EXPECT_EQ(workOf(kName, [&] { scaled_dot_product_attention(x, y, y); }).flops, 6 * 20 * (2 * 2 * 8 + 5));
  const auto causal = [&] { scaled_dot_product_attention(x, y, y, std::nullopt, 0.0, true); };
  EXPECT_EQ(workOf(kName, causal).flops, 6 * 10 * (2 * 2 * 8 + 5));
}

TEST(Costs, ReductionsAreOperationsForEachElement) {
  const Tensor x = ones({10, 10});
  EXPECT_EQ(workOf("aten::sum", [&] { sum(x); }).flops, 100);
  EXPECT_EQ(workOf("aten::amax", [&] { amax(x, {1}); }).flops, 100);
  EXPECT_EQ(workOf("aten::_softmax", [&] { softmax(x, 1); }).flops, 500);
}

TEST(Costs, FillingAndCopyingComputeNothing) {
  Tensor x = ones({100});
  EXPECT_EQ(workOf("aten::fill_.Scalar", [&] { fill_(x, 2); }).bytes, 400);
  EXPECT_EQ(workOf("aten::copy_", [&] { copy_(x, ones({100})); }).bytes, 800);
  EXPECT_EQ(workOf("aten::copy_", [&] { copy_(x, ones({100})); }).flops, 0);
  EXPECT_EQ(workOf("aten::index_select", [&] { index_select(ones({50, 10}), 0, arange(2)); }).bytes, 2 * 80 + 16);
}

TEST(Costs, PointwiseOperatorsAreTagged) {
  const auto is_pointwise = [](const char* name, const char* overload) {
    return Dispatcher::singleton().findSchemaOrThrow(name, overload).hasTag(Tag::pointwise);
  };
  EXPECT_TRUE(is_pointwise("aten::add", "Tensor"));
  EXPECT_TRUE(is_pointwise("aten::relu_", ""));
  EXPECT_TRUE(is_pointwise("aten::where", "self"));
  EXPECT_TRUE(is_pointwise("aten::eq", "Scalar_out"));
  EXPECT_FALSE(is_pointwise("aten::sum", ""));
  EXPECT_FALSE(is_pointwise("aten::equal", ""));
  EXPECT_FALSE(is_pointwise("aten::size", "int"));
  EXPECT_FALSE(is_pointwise("aten::copy_", ""));
}

// Every operator on tensors has a cost, is pointwise, returns a view or is a composite. Whoever adds an operator must
// declare which.
TEST(Costs, NoCallOfTheShownKindsIsUnknown) {
  CostCounter counter;
  {
    const HandlerGuard on(counter);
    const Tensor x = rand({8, 8});
    const Tensor y = linear(x, randn({4, 8}), zeros({4}));
    argmax(log_softmax(relu(y), 1), 1);
    cat(std::vector<Tensor>{x, x}, 1);
    masked_fill(x, gt(x, 0.5), 0);
    stack(std::vector<Tensor>{x, x});
  }
  for (const OperatorWork& work : counter.work()) EXPECT_EQ(work.unknown, 0U) << work.name;
}

}  // namespace
}  // namespace boxcar
