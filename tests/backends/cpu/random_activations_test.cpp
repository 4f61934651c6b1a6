#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

// Properties of activations and networks that draw random numbers in training.

namespace boxcar {
namespace {

double meanOf(const Tensor& x) { return item(mean(x)).toDouble(); }
bool isAll(const Tensor& conditions) { return item(all(conditions)).toBool(); }

TEST(RandomActivations, RreluScalesNegativeElementsByItsNoise) {
  manualSeed(1);
  const Tensor x = randn({10000});
  Tensor noise = empty_like(x);
  const Tensor y = rrelu_with_noise(x, noise, 0.2, 0.4, true);
  EXPECT_TRUE(equal(y, mul(x, noise)));
  const Tensor is_positive = gt(x, 0);
  EXPECT_TRUE(isAll(eq(masked_select(noise, is_positive), 1)));
  const Tensor slopes = masked_select(noise, logical_not(is_positive));
  EXPECT_TRUE(isAll(logical_and(ge(slopes, 0.2), le(slopes, 0.4))));
  EXPECT_NEAR(meanOf(slopes), 0.3, 0.01);

  Tensor in_place = clone(x);
  manualSeed(2);
  const Tensor returned = rrelu(x, 0.2, 0.4, true);
  manualSeed(2);
  rrelu_(in_place, 0.2, 0.4, true);
  EXPECT_TRUE(equal(in_place, returned));
}

TEST(RandomActivations, RreluChecksItsArguments) {
  const Tensor x = ones({3});
  Tensor noise = zeros({3});
  EXPECT_EQ(errorOf([&] { rrelu_with_noise(x, noise, 0.4, 0.2, true); }),
            "rrelu_with_noise: lower must be at most upper, but they are 0.4 and 0.2");
  Tensor doubles = zeros({3}, ScalarType::Double);
  EXPECT_EQ(errorOf([&] { rrelu_with_noise(x, doubles, 0.2, 0.4, true); }),
            "rrelu_with_noise: expected noise of dtype float32, but got float64");
  EXPECT_TRUE(isAll(eq(noise, 0)));
}

TEST(RandomActivations, AlphaDropoutKeepsMeanAndVariance) {
  manualSeed(3);
  const Tensor x = randn({200, 500});
  const Tensor y = alpha_dropout(x, 0.3, true);
  EXPECT_NEAR(meanOf(y), 0, 0.02);
  EXPECT_NEAR(meanOf(mul(y, y)), 1, 0.02);
  Tensor in_place = clone(x);
  manualSeed(4);
  const Tensor returned = alpha_dropout(x, 0.3, true);
  manualSeed(4);
  alpha_dropout_(in_place, 0.3, true);
  EXPECT_TRUE(equal(in_place, returned));
}

TEST(RandomActivations, FeatureAlphaDropoutDropsWholeChannels) {
  manualSeed(5);
  const Tensor y = feature_alpha_dropout(ones({20, 50, 6}), 0.5, true);
  const Tensor first = narrow(y, 2, 0, 1);
  EXPECT_TRUE(isAll(eq(y, first)));
  EXPECT_FALSE(isAll(eq(first, select(select(select(y, 0, 0), 0, 0), 0, 0))));
}

TEST(RandomActivations, NetworksDropOutputsBetweenLayersInTraining) {
  manualSeed(6);
  const Tensor x = randn({5, 2, 4});
  const Tensor state = zeros({2, 2, 3});
  const std::vector<Tensor> weights = {randn({3, 4}), randn({3, 3}), randn({3, 3}), randn({3, 3})};
  const auto run = [&](double dropout, bool train) {
    return std::get<0>(rnn_tanh(x, state, weights, /*has_biases=*/false, 2, dropout, train, false, false));
  };
  EXPECT_TRUE(equal(run(0, false), run(0.5, false)));
  EXPECT_TRUE(equal(run(0, false), run(0, true)));
  EXPECT_FALSE(equal(run(0, false), run(0.5, true)));
  // The second layer then has its state only, which is zero at first.
  EXPECT_TRUE(isAll(eq(run(1, true), 0)));
}

}  // namespace
}  // namespace boxcar
