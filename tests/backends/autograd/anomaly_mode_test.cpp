#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/dispatcher/call/call_site.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/backends/tensor_helpers.h"

namespace boxcar::autograd {
namespace {

Tensor leaf(std::initializer_list<float> values) { return floats(values).set_requires_grad(true); }

std::string errorOfAWrittenTensor(bool in_anomaly_mode) {
  std::optional<DetectAnomalyGuard> guard;
  if (in_anomaly_mode) guard.emplace();
  Tensor x = mul(leaf({1, 2}), 2);
  const std::optional<CallSite> first = CallSite{"train.ops", 3, "y = x * x"};
  const std::optional<CallSite> second = CallSite{"train.ops", 4, "x += 1"};
  Tensor y;
  {
    const CallSiteGuard site(first);
    y = sum(mul(x, x));
  }
  {
    const CallSiteGuard site(second);
    add_(x, 1);
  }
  return errorOf([&] { backward({{y}}); });
}

TEST(AnomalyMode, NamesTheCallsThatSavedAndWroteATensor) {
  EXPECT_EQ(
      errorOfAWrittenTensor(true),
      "one of the variables needed for gradient computation has been modified by an inplace operation: the tensor "
      "of shape [2] and dtype float32 that MulBackward0 saved, aten::mul at train.ops:3: `y = x * x`, is at "
      "version 1; expected version 0 instead. It was written by aten::add_ at train.ops:4: `x += 1`. clone() it "
      "before it is changed\n"
      "in the backward of aten::mul at train.ops:3: `y = x * x`");
  EXPECT_FALSE(AnomalyMode::is_enabled());
}

TEST(AnomalyMode, IsNamedAsTheRemedyWhereItIsOff) {
  EXPECT_EQ(
      errorOfAWrittenTensor(false),
      "one of the variables needed for gradient computation has been modified by an inplace operation: the tensor "
      "of shape [2] and dtype float32 that MulBackward0 saved is at version 1; expected version 0 instead. "
      "clone() it before it is changed; under anomaly_mode(), this error names the lines");
}

TEST(AnomalyMode, RefusesGradientsThatAreNotANumber) {
  const Tensor x = leaf({0});
  const auto error = [&](bool check_nan) {
    const DetectAnomalyGuard guard(check_nan);
    const Tensor y = sum(mul(sqrt(x), 0));
    return errorOf([&] { backward({{y}}); });
  };
  EXPECT_EQ(error(true),
            "Function 'SqrtBackward0' returned nan values in its 0th output.\n"
            "in the backward of aten::sqrt");
  EXPECT_EQ(error(false), "no error");
}

TEST(AnomalyMode, GuardsNest) {
  const DetectAnomalyGuard outer(false);
  {
    const DetectAnomalyGuard inner(true);
    EXPECT_TRUE(AnomalyMode::should_check_nan());
  }
  EXPECT_TRUE(AnomalyMode::is_enabled());
  EXPECT_FALSE(AnomalyMode::should_check_nan());
}

}  // namespace
}  // namespace boxcar::autograd
