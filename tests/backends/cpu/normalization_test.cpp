#include <boxcar/ivalue/default_generators.h>
#include <boxcar/ivalue/from_blob.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

// Two channels of three elements, with means 1 and 4 and variances 2/3.
Tensor twoChannels() { return reshape(counting({1, 6}), IntArrayRef{1, 2, 3}); }

TEST(BatchNorm, MovesTheRunningStatisticsInTraining) {
  const Tensor mean = zeros({2});
  const Tensor var = ones({2});
  batch_norm(twoChannels(), std::nullopt, std::nullopt, mean, var, true, 0.5, 1e-5, false);
  EXPECT_EQ(toString(mean), "tensor([0.5000, 2.0000])");
  // The running variance is the unbiased one, 1.
  EXPECT_EQ(toString(var), "tensor([1., 1.])");
  batch_norm(twoChannels(), std::nullopt, std::nullopt, mean, var, false, 0.5, 1e-5, false);
  EXPECT_EQ(toString(mean), "tensor([0.5000, 2.0000])");
}

TEST(BatchNorm, AnOutputThatCannotGrowIsRefusedBeforeTheStatisticsMove) {
  Tensor mean = zeros({2});
  Tensor var = ones({2});
  Tensor out = empty({0});
  Tensor scale = empty({0});
  float memory = 0;
  Tensor foreign = from_blob(&memory, {0}, BlobOptions{});
  EXPECT_NE(errorOf([&] {
              native_batch_norm_out(out, foreign, scale, twoChannels(), std::nullopt, std::nullopt, mean, var, true,
                                    0.5, 1e-5);
            }).find("wraps foreign memory"),
            std::string::npos);
  EXPECT_EQ(toString(mean), "tensor([0., 0.])");
  EXPECT_EQ(toString(var), "tensor([1., 1.])");
  EXPECT_EQ(out.numel(), 0);
}

TEST(BatchNorm, WritesNothingWhenItFails) {
  const Tensor mean = zeros({2});
  const Tensor wrong = ones({3});
  EXPECT_EQ(
      errorOf([&] { batch_norm(twoChannels(), std::nullopt, std::nullopt, mean, wrong, true, 0.5, 1e-5, false); }),
      "running_var should contain 2 elements not 3");
  EXPECT_EQ(toString(mean), "tensor([0., 0.])");
  const Tensor repeated = expand(zeros({1}), IntArrayRef{2});
  EXPECT_NE(errorOf([&] {
              batch_norm(twoChannels(), std::nullopt, std::nullopt, mean, repeated, true, 0.5, 1e-5, false);
            }).find("more than one element of the written-to tensor"),
            std::string::npos);
  EXPECT_EQ(toString(mean), "tensor([0., 0.])");
}

TEST(BatchNorm, OfNoElementsIsNoElements) {
  const Tensor mean = zeros({3});
  const Tensor var = ones({3});
  for (const bool training : {false, true}) {
    EXPECT_EQ(shapeText(batch_norm(zeros({0}), std::nullopt, std::nullopt, std::nullopt, std::nullopt, training, 0.5,
                                   1e-5, false)),
              "float32[0]");
    EXPECT_EQ(shapeText(batch_norm(zeros({0, 3}), std::nullopt, std::nullopt, mean, var, training, 0.5, 1e-5, false)),
              "float32[0, 3]");
    EXPECT_EQ(errorOf([&] {
                batch_norm(zeros({0, 2}), std::nullopt, std::nullopt, mean, var, training, 0.5, 1e-5, false);
              }),
              "running_mean should contain 2 elements not 3");
  }
  EXPECT_EQ(toString(mean), "tensor([0., 0., 0.])");
  EXPECT_EQ(toString(var), "tensor([1., 1., 1.])");
  EXPECT_EQ(errorOf([&] {
              native_batch_norm(zeros({0, 3}), std::nullopt, std::nullopt, mean, var, true, 0.5, 1e-5);
            }),
            "batch_norm: in training the input must have at least one element, but its shape is [0, 3]");
}

TEST(BatchNorm, RefusesParametersOfTooManyDimensionsBeforeTheStatisticsMove) {
  const Tensor mean = zeros({3});
  const Tensor var = ones({3});
  std::vector<int64_t> sizes(65, 1);
  sizes[0] = 3;
  EXPECT_EQ(errorOf([&] {
              native_batch_norm(ones({4, 3}), std::nullopt, ones(sizes), mean, var, true, 0.5, 1e-5);
            }),
            "tensors with more than 64 dimensions are not supported, this has 65");
  EXPECT_EQ(toString(mean), "tensor([0., 0., 0.])");
  EXPECT_EQ(toString(var), "tensor([1., 1., 1.])");
}

TEST(GroupNorm, NeedsChannelsGroupsAndPixels) {
  EXPECT_EQ(errorOf([] {
              group_norm(zeros({2, 0, 4}), 1);
            }),
            "Expected number of channels to be greater than 0, got 0");
  EXPECT_EQ(errorOf([] { group_norm(zeros({2, 4}), 0); }), "Expected num groups to be greater than 0, got 0");
  EXPECT_EQ(errorOf([] { group_norm(zeros({2, 4, 0}), 2); }), "Expected HxW to be greater than 0, got 0");
  EXPECT_EQ(shapeText(group_norm(zeros({0, 4}), 2)), "float32[0, 4]");
}

TEST(LayerNorm, TakesFloatWeightsForSmallFloats) {
  const Tensor x = to(twoChannels(), ScalarType::BFloat16);
  const auto [y, mean, scale] = native_layer_norm(x, IntArrayRef{3}, ones({3}), zeros({3}), 1e-5);
  EXPECT_EQ(y.scalar_type(), ScalarType::BFloat16);
  EXPECT_EQ(mean.scalar_type(), ScalarType::Float);
  EXPECT_EQ(errorOf([&] { layer_norm(x, IntArrayRef{3}, ones({3}, ScalarType::Double)); }),
            "layer_norm: expected the parameters to have dtype bfloat16, like the input, but found float64");
}

// Returns the norm of the rows, made of operators.
Tensor rmsNormOfOperators(const Tensor& x, const std::optional<Tensor>& weight, double eps) {
  const Tensor y = mul(x, rsqrt(add(mean(square(x), IntArrayRef{-1}, /*keepdim=*/true), eps)));
  return weight ? mul(y, *weight) : y;
}

TEST(RmsNorm, InOnePassIsThatOfTheOperators) {
  manualSeed(5);
  for (const ScalarType type : {ScalarType::Float, ScalarType::Double}) {
    for (const int64_t n : {1, 7, 64, 300, 5000}) {
      const Tensor x = to(randn({3, 4, n}), type);
      const Tensor weight = to(randn({n}), type);
      for (const auto& given : {std::optional<Tensor>(), std::optional(weight)}) {
        EXPECT_TRUE(allclose(rms_norm(x, {n}, given, 1e-5), rmsNormOfOperators(x, given, 1e-5), 1e-6, 1e-7)) << n;
      }
      const auto [y, factor] = _fused_rms_norm(x, IntArrayRef{4, n}, std::nullopt, 0.5);
      EXPECT_EQ(shapeText(factor), shapeText(zeros({3, 1, 1}, type)));
      EXPECT_TRUE(allclose(mul(x, factor), y, 1e-6, 1e-7));
    }
  }
}

TEST(RmsNorm, KeepsTheOrderInMemoryAndTheDtypesOfTheOperators) {
  manualSeed(6);
  const Tensor x = t(randn({5, 6}));
  const Tensor y = rms_norm(x, {5}, ones({5}), 1e-5);
  EXPECT_EQ(stridesOf(y), stridesOf(x));
  EXPECT_TRUE(allclose(y, rmsNormOfOperators(x, ones({5}), 1e-5), 1e-6, 1e-7));
  EXPECT_EQ(rms_norm(ones({2, 3}, ScalarType::BFloat16), {3}, ones({3})).scalar_type(), ScalarType::BFloat16);
  EXPECT_EQ(rms_norm(ones({2, 3}), {3}, ones({3}, ScalarType::Double)).scalar_type(), ScalarType::Float);
  EXPECT_EQ(shapeText(rms_norm(zeros({0, 3}), {3})), "float32[0, 3]");
  EXPECT_EQ(toString(rms_norm(full({1, 2}, std::numeric_limits<double>::infinity()), {2})), "tensor([[nan, nan]])");
}

}  // namespace
}  // namespace boxcar
