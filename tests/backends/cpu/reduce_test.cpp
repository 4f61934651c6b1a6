#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Sum, OverAllAndOverDimensions) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(toString(sum(x)), "tensor(15.)");
  EXPECT_EQ(toString(sum(x, IntArrayRef{0})), "tensor([3., 5., 7.])");
  EXPECT_EQ(toString(sum(x, IntArrayRef{-1}, true)), "tensor([[ 3.],\n        [12.]])");
  EXPECT_EQ(toString(sum(x, IntArrayRef{0, 1})), "tensor(15.)");
  EXPECT_EQ(toString(sum(x, IntArrayRef{})), "tensor(15.)");
  EXPECT_EQ(toString(sum(x, std::nullopt, true)), "tensor([[15.]])");
  EXPECT_EQ(toString(sum(zeros({0}))), "tensor(0.)");
  EXPECT_EQ(toString(sum(zeros({2, 0}), IntArrayRef{1})), "tensor([0., 0.])");
  EXPECT_EQ(shapeText(sum(zeros({0, 3}), IntArrayRef{1})), "float32[0]");
  EXPECT_EQ(toString(sum(scalar_tensor(3.0), IntArrayRef{0})), "tensor(3.)");
}

TEST(Sum, IsTheSameBoxed) {
  EXPECT_EQ(item(callBoxed("aten::sum", counting({4}), IValue()).toTensor()).toDouble(), 6.0);
  EXPECT_EQ(
      toString(callBoxed("aten::sum.dim_IntList", counting({2, 2}), List<int64_t>{0}, false, IValue()).toTensor()),
      "tensor([2., 4.])");
}

TEST(Sum, OfIntegersAndBoolsIsInt64) {
  EXPECT_EQ(toString(sum(bools({true, true, false}))), "tensor(2)");
  EXPECT_EQ(toString(sum(full({300}, 255, ScalarType::Byte))), "tensor(76500)");
  EXPECT_EQ(sum(ints({1, 2}), ScalarType::Float).scalar_type(), ScalarType::Float);
  EXPECT_EQ(toString(sum(floats({1.7f, 2.7f}), ScalarType::Int)), "tensor(3, dtype=torch.int32)");
}

TEST(Sum, ReadsAnyLayout) {
  const Tensor x = counting({3, 4, 5});
  for (const std::vector<int64_t>& order : std::vector<std::vector<int64_t>>{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    const Tensor permuted = permute(x, order);
    const Tensor plain = contiguous(permuted);
    for (int64_t dim = 0; dim < 3; ++dim) {
      EXPECT_TRUE(equal(sum(permuted, IntArrayRef{dim}), sum(plain, IntArrayRef{dim})));
      EXPECT_TRUE(equal(sum(permuted, IntArrayRef{dim, (dim + 1) % 3}), sum(plain, IntArrayRef{dim, (dim + 1) % 3})));
    }
  }
  EXPECT_EQ(item(sum(expand(floats({1, 2}), {100, 2}))).toDouble(), 300.0);
}

TEST(Sum, ManyTermsKeepTheirDigits) {
  const double tenth = static_cast<double>(0.1f);
  const Tensor many = full({1000003}, 0.1);
  EXPECT_NEAR(item(sum(many)).toDouble() / (tenth * 1000003), 1.0, 1e-6);
  const Tensor columns = full({100003, 5}, 0.1);
  EXPECT_NEAR(item(select(sum(columns, IntArrayRef{0}), 0, 3)).toDouble() / (tenth * 100003), 1.0, 1e-6);
  EXPECT_EQ(item(sum(full({5000}, 1, ScalarType::Half))).toDouble(), 5000.0);
}

TEST(Sum, NamesWrongDimensions) {
  EXPECT_EQ(errorOf([] {
              sum(zeros({2, 3}), IntArrayRef{2});
            }),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(errorOf([] {
              sum(zeros({2, 3}), IntArrayRef{0, -2});
            }),
            "dim 0 appears multiple times in the list of dims");
}

TEST(Var, OfFloatsWhoseSquaresAreNone) {
  const Tensor large = floats({1e20F, -1e20F});
  EXPECT_FLOAT_EQ(item(std(large)).toDouble(), 1.4142135e20);
  EXPECT_EQ(item(std(large)).toDouble(), item(std(view(large, {2, 1}), IntArrayRef{0})).toDouble());
  EXPECT_EQ(item(var(floats({3e38F, 3e38F}))).toDouble(), 0);
  EXPECT_FLOAT_EQ(item(std(floats({1e-23F, -1e-23F}))).toDouble(), 1.4142135e-23F);
  EXPECT_TRUE(std::isnan(item(var(floats({1, INFINITY}))).toDouble()));
}

TEST(Mean, NeedsFloats) {
  EXPECT_EQ(toString(mean(counting({2, 3}))), "tensor(2.5000)");
  EXPECT_EQ(toString(mean(counting({2, 3}), IntArrayRef{1})), "tensor([1., 4.])");
  EXPECT_EQ(toString(mean(ints({1, 2}), ScalarType::Double)), "tensor(1.5000, dtype=torch.float64)");
  EXPECT_EQ(toString(mean(zeros({0}))), "tensor(nan)");
  EXPECT_EQ(errorOf([] {
              mean(ints({1, 2}));
            }),
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            "Long");
  EXPECT_EQ(errorOf([] {
              mean(floats({1, 2}), ScalarType::Int);
            }),
            "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. "
            "Got: Int");
}

TEST(Prod, Multiplies) {
  EXPECT_EQ(toString(prod(ints({2, 3, 4}))), "tensor(24)");
  EXPECT_EQ(toString(prod(add(counting({2, 3}), 1), 0)), "tensor([ 4., 10., 18.])");
  EXPECT_EQ(toString(prod(zeros({0}))), "tensor(1.)");
}

TEST(Extremes, OverDimensions) {
  const Tensor x = floats({3, 9, 2, 8, 1, 7}, {2, 3});
  EXPECT_EQ(toString(amax(x, {1})), "tensor([9., 8.])");
  EXPECT_EQ(toString(amin(x, {0})), "tensor([3., 1., 2.])");
  EXPECT_EQ(toString(amax(x)), "tensor(9.)");
  EXPECT_EQ(toString(max(x)), "tensor(9.)");
  EXPECT_EQ(toString(min(x)), "tensor(1.)");
  EXPECT_EQ(toString(amax(floats({1, kNan, 3}))), "tensor(nan)");
  EXPECT_EQ(toString(amax(tensorOf<int8_t>({-128, -5}))), "tensor(-5, dtype=torch.int8)");
  EXPECT_EQ(toString(amax(bools({false, true}))), "tensor(True)");
  const auto [values, indices] = max(x, 1);
  EXPECT_EQ(toString(values), "tensor([9., 8.])");
  EXPECT_EQ(toString(indices), "tensor([1, 0])");
  const auto [kept, places] = min(x, 0, true);
  EXPECT_EQ(toString(kept), "tensor([[3., 1., 2.]])");
  EXPECT_EQ(toString(places), "tensor([[0, 1, 0]])");
}

TEST(Extremes, OfNothingAreErrors) {
  EXPECT_EQ(errorOf([] { amax(zeros({0})); }),
            "amax(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
            "'dim' argument.");
  EXPECT_EQ(errorOf([] { amin(zeros({0, 2}), {0}); }), "amin(): Expected reduction dim 0 to have non-zero size.");
  EXPECT_EQ(errorOf([] { argmax(zeros({0, 2}), 0); }), "argmax(): Expected reduction dim 0 to have non-zero size.");
  EXPECT_EQ(shapeText(amax(zeros({0, 2}), {1})), "float32[0]");
}

TEST(ArgMax, GivesTheFirstOfEquals) {
  EXPECT_EQ(toString(argmax(floats({1, 3, 3, 2}))), "tensor(1)");
  EXPECT_EQ(toString(argmin(ints({1, 0, 0, 2}))), "tensor(1)");
  EXPECT_EQ(toString(argmax(floats({1, kNan, 3, kNan}))), "tensor(1)");
  EXPECT_EQ(toString(argmax(zeros({2000}))), "tensor(0)");
  EXPECT_EQ(toString(argmax(zeros({2000, 3}), 0)), "tensor([0, 0, 0])");
}

TEST(ArgMax, CountsInTheOrderOfTheDimensions) {
  const Tensor x = floats({1, 2, 3, 9, 5, 6}, {2, 3});
  EXPECT_EQ(toString(argmax(x)), "tensor(3)");
  EXPECT_EQ(toString(argmax(t(x))), "tensor(1)");
  EXPECT_EQ(toString(argmax(x, 0)), "tensor([1, 1, 1])");
  EXPECT_EQ(toString(argmax(t(x), 0)), "tensor([2, 0])");
  EXPECT_EQ(toString(argmax(x, -1, true)), "tensor([[2],\n        [0]])");
}

TEST(AnyAll, ReadTruth) {
  EXPECT_EQ(toString(any(floats({0, 0}))), "tensor(False)");
  EXPECT_EQ(toString(any(floats({0, kNan}))), "tensor(True)");
  EXPECT_EQ(toString(all(zeros({0}))), "tensor(True)");
  EXPECT_EQ(toString(all(ints({1, 0, 2, 3}, {2, 2}), 0)), "tensor([ True, False])");
  EXPECT_EQ(toString(any(tensorOf<uint8_t>({0, 7}))), "tensor(1, dtype=torch.uint8)");
  EXPECT_EQ(shapeText(any(zeros({2, 3, 4}), IntArrayRef{0, 2}, true)), "bool[1, 3, 1]");
}

TEST(Softmax, SumsToOne) {
  EXPECT_EQ(toString(softmax(floats({1, 2, 3}), 0)), "tensor([0.0900, 0.2447, 0.6652])");
  EXPECT_EQ(toString(softmax(floats({1000, 1000}), 0)), "tensor([0.5000, 0.5000])");
  EXPECT_EQ(toString(log_softmax(floats({1, 2, 3}), 0)), "tensor([-2.4076, -1.4076, -0.4076])");
  const Tensor x = counting({2, 3, 4});
  for (int64_t dim = 0; dim < 3; ++dim) {
    EXPECT_LT(item(amax(abs(sub(sum(softmax(x, dim), IntArrayRef{dim}), 1)))).toDouble(), 1e-6);
  }
  EXPECT_TRUE(equal(softmax(t(counting({3, 4})), 1), softmax(contiguous(t(counting({3, 4}))), 1)));
  EXPECT_EQ(softmax(ints({1, 2}), 0, ScalarType::Double).scalar_type(), ScalarType::Double);
  EXPECT_EQ(softmax(ones({2}, ScalarType::Half), 0).scalar_type(), ScalarType::Half);
  EXPECT_EQ(errorOf([] {
              softmax(ints({1, 2}), 0);
            }),
            "softmax does not take dtype int64; it takes float16, bfloat16, float32 or float64");
  EXPECT_EQ(errorOf([] { softmax(zeros({2}), 1); }),
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

}  // namespace
}  // namespace boxcar
