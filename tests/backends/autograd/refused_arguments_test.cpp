#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/dispatcher/call/grad_mode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "tests/backends/tensor_helpers.h"

// Arguments that must not require grad, because no gradient reaches them.

namespace boxcar::autograd {
namespace {

std::string refusalOf(std::string_view op, std::string_view argument) {
  return fmt::format(
      "The function '{}' is not differentiable with respect to argument '{}'. This input cannot have requires_grad "
      "True. Give the function detach() of it, or call it under no_grad",
      op, argument);
}

Tensor wanted(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

TEST(RefusedArguments, AreNamedByTheCall) {
  const Tensor scores = floats({1, 2, 3, 4}, {2, 2}).set_requires_grad(true);
  const Tensor target = ints({0, 1});
  const Tensor weight = wanted({1, 2});
  EXPECT_EQ(errorOf([&] { nll_loss(scores, target, weight); }), refusalOf("nll_loss_forward", "weight"));
  EXPECT_EQ(errorOf([&] { multi_margin_loss(scores, target, 1, 1, weight); }),
            refusalOf("multi_margin_loss", "weight"));
  EXPECT_EQ(errorOf([&] {
              binary_cross_entropy_with_logits(scores, floats({1, 0}), std::nullopt, weight);
            }),
            refusalOf("binary_cross_entropy_with_logits", "pos_weight"));
  EXPECT_EQ(errorOf([&] { log_sigmoid_backward(scores, scores, weight); }),
            refusalOf("log_sigmoid_backward", "buffer"));
  EXPECT_EQ(errorOf([&] { linalg_pinv(scores, sum(weight)); }), refusalOf("linalg_pinv", "rtol"));
}

TEST(RefusedArguments, AreRefusedInPlaceAndWhereNothingElseRequiresGrad) {
  Tensor x = floats({1, 2});
  Tensor noise = mul(wanted({1, 2}), 1);
  EXPECT_EQ(errorOf([&] { rrelu_with_noise_(x, noise); }), refusalOf("rrelu_with_noise_", "noise"));
  EXPECT_EQ(toString(x), "tensor([1., 2.])");
  EXPECT_EQ(errorOf([&] { soft_margin_loss(x, noise); }), refusalOf("soft_margin_loss", "target"));
}

TEST(RefusedArguments, AreTakenWhereNothingIsRecorded) {
  const Tensor scores = floats({1, 2, 3, 4}, {2, 2}).set_requires_grad(true);
  const Tensor weight = wanted({1, 2});
  EXPECT_TRUE(nll_loss(scores, ints({0, 1}), detach(weight)).requires_grad());
  const NoGradGuard no_grad;
  EXPECT_FALSE(nll_loss(scores, ints({0, 1}), weight).requires_grad());
}

// log_sigmoid calls log_sigmoid_backward with its own argument as the buffer.
TEST(RefusedArguments, DoNotStopGradientsOfGradients) {
  const Tensor x = wanted({0});
  const Tensor first = grad({{sum(log_sigmoid(x))}}, {{x}}, {}, true, true)[0];
  EXPECT_EQ(toString(detach(first)), "tensor([0.5000])");
  EXPECT_EQ(toString(grad({{sum(first)}}, {{x}})[0]), "tensor([-0.2500])");
}

TEST(ArgumentsWithoutDerivative, AreNamedByTheBackwardPass) {
  const Tensor x = floats({1, 2, 3, 4}, {2, 2});
  const Tensor ones = floats({1, 1});
  const bool kMask[] = {true, false, false};
  const Tensor gradient = std::get<0>(
      native_batch_norm_backward(x, x, std::nullopt, std::nullopt, std::nullopt, wanted({2, 3}), ones, true, 0, kMask));
  EXPECT_TRUE(gradient.requires_grad());
  EXPECT_EQ(errorOf([&] { backward({{sum(gradient)}}); }),
            "the derivative of native_batch_norm_backward for its argument 'save_mean' is not implemented. Compute it "
            "under no_grad, or give an argument that does not require grad");
}

}  // namespace
}  // namespace boxcar::autograd
