#include <boxcar/backends/autograd/forward_mode.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/backends/autograd/leaves.h"

// Which tensors have a tangent, and which.

namespace boxcar::autograd {
namespace {

// The tangent of function(v) where v is [1, 2] with the tangent [1, 1].
std::string tangentOf(const std::function<Tensor(const Tensor&)>& function) {
  const ForwardLevel level;
  const Tensor tangent = level.tangentOf(function(level.makeDual(floats({1, 2}), ones({2}))));
  return tangent.defined() ? toString(tangent) : "none";
}

TEST(Tangents, OfWhatDoesNotDependOnTheElements) {
  EXPECT_EQ(tangentOf([](const Tensor& v) { return detach(v); }), "none");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return to(v, ScalarType::Long); }), "none");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return to(gt(v, 0), ScalarType::Float); }), "none");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return zeros_like(v); }), "none");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return round(v); }), "tensor([0., 0.])");
}

TEST(Tangents, HaveTheShapeAndDtypeOfTheirTensor) {
  EXPECT_EQ(tangentOf([](const Tensor& v) { return expand(v, {2, 2}); }), "tensor([[1., 1.],\n        [1., 1.]])");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return to(v, ScalarType::Double); }),
            "tensor([1., 1.], dtype=torch.float64)");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return cat({v, floats({5, 6})}); }), "tensor([1., 1., 0., 0.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return std::get<0>(max(v, 0)); }), "tensor(1.)");
  EXPECT_EQ(tangentOf([](const Tensor& v) { return std::get<0>(sort(v, 0, true)); }), "tensor([1., 1.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              return index(v, List<std::optional<Tensor>>{ints({0, 0, 1})});
            }),
            "tensor([1., 1., 1.])");
}

TEST(Tangents, AreWrittenWithTheirTensor) {
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              Tensor y = zeros({2});
              return add_(y, v);
            }),
            "tensor([1., 1.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              Tensor y = mul(v, 3);
              return zero_(y);
            }),
            "tensor([0., 0.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              Tensor y = mul(v, 3);
              return copy_(y, ones({2}));
            }),
            "tensor([0., 0.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              const Tensor y = zeros({3});
              Tensor first = select(y, 0, 0);
              copy_(first, mul(select(v, 0, 1), 3));
              return y;
            }),
            "tensor([3., 0., 0.])");
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              Tensor part = unbind(stack({v, v}))[1];
              return mul_(part, 5);
            }),
            "tensor([5., 5.])");
}

TEST(Tangents, DoNotDependOnGradMode) {
  EXPECT_EQ(tangentOf([](const Tensor& v) {
              const NoGradGuard no_grad;
              Tensor y = mul(v, 2);
              Tensor first = select(y, 0, 0);
              mul_(first, 10);
              return y;
            }),
            "tensor([20.,  2.])");
}

TEST(Tangents, AreNotThoseOfTheTensorThatTheyWereGivenFor) {
  const ForwardLevel level;
  const Tensor x = floats({1, 2});
  const Tensor dual = level.makeDual(x, ones({2}));
  EXPECT_TRUE(level.tangentOf(dual).defined());
  EXPECT_FALSE(level.tangentOf(x).defined());
}

TEST(Tangents, AreRefusedWhereTheyDoNotFit) {
  const ForwardLevel level;
  EXPECT_EQ(errorOf([&] {
              level.makeDual(floats({1, 2}), ones({3}));
            }),
            "a tangent must have the shape of its primal, [2], not [3]");
  EXPECT_EQ(errorOf([&] { level.makeDual(ints({1}), ints({1})); }),
            "expected a primal of floating point or complex dtype, but got int64");
}

}  // namespace
}  // namespace boxcar::autograd
