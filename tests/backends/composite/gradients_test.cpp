#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Covers what the cases of tests/numerics do not: texts of errors, huge arguments, the meta device.

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

constexpr std::array<bool, 3> kAll = {true, true, true};
constexpr int64_t kMost = (int64_t{1} << 31) - 1;

std::string faultOfMaxPool(const Tensor& grad_output, const Tensor& indices) {
  return errorOf([&] {
    max_pool2d_with_indices_backward(grad_output, ones({1, 4, 4}), {2}, {2}, {0}, {1}, false, indices);
  });
}

TEST(PoolGradients, NameTheArgumentThatDoesNotFit) {
  const Tensor indices = zeros({1, 2, 2}, ScalarType::Long);
  EXPECT_EQ(
      faultOfMaxPool(ones({1, 2, 3}), indices),
      "max_pool2d_with_indices_backward: grad_output must be of the size [1, 2, 2] of the pool's result, but it is "
      "of size [1, 2, 3]");
  EXPECT_EQ(
      faultOfMaxPool(ones({1, 2, 2}, ScalarType::Double), indices),
      "max_pool2d_with_indices_backward: grad_output and self must have the same dtype, but they have float64 and "
      "float32");
  EXPECT_EQ(faultOfMaxPool(ones({1, 2, 2}), zeros({1, 2, 2}, ScalarType::Int)),
            "max_pool2d_with_indices_backward: indices must be int64 of the size [1, 2, 2] of the pool's result, but "
            "they are int32 of size [1, 2, 2]");
  EXPECT_NE(faultOfMaxPool(ones({1, 2, 2}), full({1, 2, 2}, 16, ScalarType::Long)), "no error");
  EXPECT_EQ(errorOf([] {
              _adaptive_avg_pool2d_backward(ones({1, 0, 2}), ones({1, 4, 4}));
            }),
            "_adaptive_avg_pool2d_backward: grad_output must have no empty dimension except the batch, but it is of "
            "size [1, 0, 2]");
  EXPECT_EQ(errorOf([] {
              _adaptive_avg_pool2d_backward(ones({2, 2}), ones({1, 4, 4}));
            }),
            "_adaptive_avg_pool2d_backward: grad_output and self must have the same 3 or 4 dimensions, but they are of "
            "size [2, 2] and [1, 4, 4]");
  EXPECT_EQ(errorOf([] {
              avg_pool2d_backward(ones({1, 2, 2}), ones({1, 4, 4}), {2}, {2}, {0}, false, true, 0);
            }),
            "avg_pool2d_backward: divisor_override must not be zero");
}

// A window can be much larger than the input if the result is rounded up.
TEST(PoolGradients, TakeHugeWindows) {
  const Tensor self = zeros({1, 2, 3});
  EXPECT_EQ(toString(avg_pool2d_backward(full({1, 1, 1}, 6.0), self, {kMost}, {kMost}, {0}, true, false, std::nullopt)),
            "tensor([[[1., 1., 1.],\n         [1., 1., 1.]]])");
}

std::string faultOfConvolution(const Tensor& grad_output, IntArrayRef output_padding = {0}) {
  return errorOf([&] {
    convolution_backward(grad_output, ones({1, 2, 4, 4}), ones({3, 2, 2, 2}), std::nullopt, {1}, {0}, {1}, false,
                         output_padding, 1, kAll);
  });
}

TEST(ConvolutionGradients, NameTheArgumentThatDoesNotFit) {
  EXPECT_EQ(faultOfConvolution(ones({1, 3, 3, 2})),
            "convolution_backward: grad_output must be of the size [1, 3, 3, 3] of the convolution's result, but it is "
            "of size [1, 3, 3, 2]");
  EXPECT_EQ(faultOfConvolution(ones({1, 3, 3, 3}, ScalarType::Double)),
            "convolution_backward: expected grad_output and input of the same floating-point or complex dtype, but got "
            "float64 and "
            "float32");
  EXPECT_EQ(faultOfConvolution(ones({1, 3, 3, 3}), {1, 0}),
            "convolution_backward: output_padding is only for transposed convolutions, but it is [1, 0]");
}

// The stride and the padding are far larger than what is computed.
TEST(ConvolutionGradients, TakeHugeStridesAndPadding) {
  const auto [input, weight, bias] = convolution_backward(ones({1, 1, 3}), ones({1, 1, 5}), ones({1, 1, 1}),
                                                          std::nullopt, {1 << 30}, {1 << 30}, {1}, false, {0}, 1, kAll);
  EXPECT_EQ(toString(input), "tensor([[[1., 0., 0., 0., 0.]]])");
  EXPECT_EQ(toString(weight), "tensor([[[1.]]])");
  EXPECT_EQ(toString(bias), "tensor([3.])");
}

TEST(NormGradients, NameTheArgumentThatDoesNotFit) {
  const Tensor x = ones({2, 3});
  const Tensor row = ones({3});
  const Tensor statistics = ones({2, 1});
  EXPECT_EQ(errorOf([&] { native_layer_norm_backward(x, x, {3}, statistics, statistics, std::nullopt, row, kAll); }),
            "native_layer_norm_backward: output_mask asks for the gradient of weight, which is not given");
  EXPECT_EQ(errorOf([&] { native_layer_norm_backward(x, x, {3}, statistics, ones({3}), row, row, kAll); }),
            "native_layer_norm_backward: mean and rstd must have 2 elements, but they are of size [2, 1] and [3]");
  EXPECT_EQ(errorOf([&] { native_layer_norm_backward(row, x, {3}, statistics, statistics, row, row, kAll); }),
            "native_layer_norm_backward: grad_out must have the dtype and the size of input, float32 of size [2, 3], "
            "but it is float32 of size [3]");
  EXPECT_EQ(errorOf([&] { native_group_norm_backward(x, x, statistics, statistics, row, 2, 3, kMost, 1, kAll); }),
            "native_group_norm_backward: an input of 6 elements is not one of N=2, C=3, HxW=2147483647");
  const std::array<bool, 2> two = {true, true};
  EXPECT_EQ(errorOf([&] { native_group_norm_backward(x, x, statistics, statistics, row, 2, 3, 1, 1, two); }),
            "native_group_norm_backward: output_mask must be 3 bools, but it has 2");
}

TEST(EmbeddingGradients, NameTheArgumentThatDoesNotFit) {
  const Tensor indices = zeros({2}, ScalarType::Long);
  EXPECT_EQ(errorOf([&] {
              embedding_dense_backward(ones({3, 4}), indices, 5, -1, false);
            }),
            "embedding_dense_backward: grad_output must have a row for each of 2 indices, but it is of size [3, 4]");
  EXPECT_EQ(errorOf([&] {
              embedding_dense_backward(ones({2, 4}), indices, -5, -1, false);
            }),
            "embedding_dense_backward: num_weights must not be negative, but it is -5");
  EXPECT_EQ(errorOf([&] {
              embedding_dense_backward(ones({2, 4}), ones({2}), 5, -1, false);
            }),
            "embedding_dense_backward: indices must be int64 or int32, not float32");
  EXPECT_NE(errorOf([&] {
              embedding_dense_backward(ones({2, 4}), indices, std::numeric_limits<int64_t>::max(), -1, false);
            }),
            "no error");
  EXPECT_NE(errorOf([&] { embedding_dense_backward(ones({2, 4}), indices, 0, -1, false); }), "no error");
}

TEST(Gradients, OfNothingButSizesAreComputedOnMeta) {
  const Device meta(DeviceType::Meta);
  const Tensor self = empty({1, kMost, 64}, std::nullopt, std::nullopt, meta);
  const Tensor gradient = empty({1, kMost / 2, 32}, std::nullopt, std::nullopt, meta);
  EXPECT_EQ(sizesOf(avg_pool2d_backward(gradient, self, {2}, {2}, {0}, false, true, std::nullopt)),
            (Ints{1, kMost, 64}));
  EXPECT_EQ(sizesOf(_adaptive_avg_pool2d_backward(gradient, self)), (Ints{1, kMost, 64}));
}

TEST(SymbolicSizes, OfUndefinedTensorsAreRefused) {
  EXPECT_EQ(errorOf([] { sym_numel(Tensor()); }), "expected a tensor, but it is undefined");
  EXPECT_EQ(errorOf([] { sym_is_contiguous(Tensor()); }), "expected a tensor, but it is undefined");
}

}  // namespace
}  // namespace boxcar
