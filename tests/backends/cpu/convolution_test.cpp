#include <boxcar/backends/cpu/convolution.h>
#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

struct Setting {
  bool transposed;
  int64_t stride, padding, dilation, output_padding, groups;
};

// Whole numbers, so that every order of summation gives the same.
Tensor wholeNumbers(IntArrayRef sizes, int64_t seed) {
  return to(sub(remainder(add(mul(counting(sizes, ScalarType::Long), 7), seed), 11), 5), ScalarType::Float);
}

// Tests the matrix product that replaces oneDNN where the build omits it or it has no kernel.
TEST(Convolution, ByColumnsIsTheSame) {
  for (const Setting& s : {Setting{false, 1, 0, 1, 0, 1},
                           {false, 2, 1, 1, 0, 2},
                           {false, 1, 2, 2, 0, 4},
                           {true, 1, 0, 1, 0, 1},
                           {true, 2, 1, 1, 1, 2},
                           {true, 3, 2, 2, 0, 4}}) {
    const Tensor x = wholeNumbers({2, 4, 7, 9}, 1);
    const Tensor w = wholeNumbers({4, s.transposed ? 8 / s.groups : 4 / s.groups, 3, 2}, 2);
    const Tensor b = wholeNumbers({s.transposed ? 8 : 4}, 3);
    const Tensor expected =
        convolution(x, w, b, {s.stride}, {s.padding}, {s.dilation}, s.transposed, {s.output_padding}, s.groups);
    const auto one = [](const int64_t& value) { return std::span(&value, 1); };
    const meta::Convolution arguments = meta::checkConvolution(x, w, b, one(s.stride), one(s.padding), one(s.dilation),
                                                               s.transposed, one(s.output_padding), s.groups);
    const Tensor out = empty_like(expected);
    cpu::convolveByColumns({arguments, out, x, w, b});
    EXPECT_TRUE(equal(out, expected)) << s.transposed << " groups " << s.groups;
  }
}

// Models take heads of attention from the result with views, which other strides refuse.
TEST(Convolution, OfSignalsWithPermutedDimensionsIsContiguous) {
  const Tensor x = permute(wholeNumbers({2, 5, 4}, 1), {0, 2, 1});
  for (const int64_t groups : {1, 2, 4}) {
    const Tensor w = wholeNumbers({4, 4 / groups, 1}, 2);
    const Tensor y = conv1d(x, w, std::nullopt, {1}, IntArrayRef{0}, {1}, groups);
    EXPECT_TRUE(y.is_contiguous()) << groups << " groups";
    EXPECT_TRUE(equal(y, conv1d(contiguous(x), w, std::nullopt, {1}, IntArrayRef{0}, {1}, groups)))
        << groups << " groups";
  }
}

// Kernels of one element that step over pixels see a part of the images.
TEST(Convolution, OfOneElementWithStepsIsThatOfTheSeenPixels) {
  const Tensor x = wholeNumbers({2, 4, 7, 9}, 1);
  const Tensor b = wholeNumbers({6}, 3);
  for (const int64_t groups : {1, 2}) {
    const Tensor w = wholeNumbers({6, 4 / groups, 1, 1}, 2);
    for (const Tensor& input :
         {x, transpose(wholeNumbers({2, 4, 9, 7}, 1), 2, 3), expand(narrow(x, 1, 0, 1), {2, 4, 7, 9})}) {
      const Tensor seen = contiguous(slice(slice(input, 2, 0, 7, 2), 3, 0, 9, 3));
      const Tensor expected = conv2d(seen, w, b, {1}, IntArrayRef{0}, {1}, groups);
      EXPECT_TRUE(equal(conv2d(input, w, b, {2, 3}, IntArrayRef{0}, {1}, groups), expected)) << groups << " groups";
    }
  }
  const Tensor volume = wholeNumbers({1, 4, 5, 6, 7}, 1);
  const Tensor w = wholeNumbers({3, 4, 1, 1, 1}, 2);
  EXPECT_TRUE(equal(conv3d(volume, w, std::nullopt, {1, 2, 1}), conv3d(contiguous(slice(volume, 3, 0, 6, 2)), w)));
}

// The largest error of a convolution with 3x3 kernels, relative to the largest element.
double relativeErrorOf(IntArrayRef sizes, int64_t out_channels) {
  const Tensor x = randn(sizes);
  const Tensor w = randn({out_channels, sizes[1], 3, 3});
  const Tensor b = randn({out_channels});
  const Tensor expected =
      conv2d(to(x, ScalarType::Double), to(w, ScalarType::Double), to(b, ScalarType::Double), {1}, {1}, {1});
  const Tensor error = sub(to(conv2d(x, w, b, {1}, {1}, {1}), ScalarType::Double), expected);
  return item(max(abs(error))).toDouble() / item(max(abs(expected))).toDouble();
}

// Winograd's algorithm with large tiles would exceed this error.
TEST(Convolution, WithManyChannelsIsAsExactAsFloat32Allows) {
  EXPECT_LT(relativeErrorOf({1, 64, 14, 14}, 64), 3e-6);
  EXPECT_LT(relativeErrorOf({8, 48, 9, 12}, 128), 3e-6);
  EXPECT_LT(relativeErrorOf({32, 256, 14, 14}, 256), 3e-6);
}

TEST(Convolution, GivesTheSameSharedBetweenThreadsAndAlone) {
  const int before = cpu::threadCount();
  for (const int64_t channels : {1, 4, 24}) {
    const Tensor x = wholeNumbers({2, channels, 20, 20}, 1);
    const Tensor w = wholeNumbers({channels, channels, 3, 3}, 2);
    cpu::setThreadCount(1);
    const Tensor alone = conv2d(x, w);
    cpu::setThreadCount(3);
    const Tensor shared = conv2d(x, w);
    cpu::setThreadCount(before);
    EXPECT_TRUE(equal(alone, shared)) << channels;
  }
}

// Writes to the convolution's kernels in place between two calls of one primitive.
TEST(Convolution, ReadsItsKernelsAtEachCall) {
  const Tensor x = ones({1, 16, 12, 12});
  Tensor w = ones({16, 16, 3, 3});
  const Tensor before = conv2d(x, w, std::nullopt, {1}, IntArrayRef{0}, {1});
  mul_(w, 2);
  EXPECT_TRUE(equal(conv2d(x, w, std::nullopt, {1}, IntArrayRef{0}, {1}), mul(before, 2)));
}

TEST(Convolution, RefusesWithASentence) {
  const Tensor x = ones({1, 4, 5, 5});
  const Tensor w = ones({4, 4, 3, 3});
  const auto with = [&](int64_t stride, int64_t padding, int64_t dilation, int64_t groups) {
    return errorOf([&] { conv2d(x, w, std::nullopt, {stride}, {padding}, {dilation}, groups); });
  };
  EXPECT_EQ(with(0, 0, 1, 1), "convolution: stride must be from 1 to 2147483647, but it is [0]");
  EXPECT_EQ(with(1, -1, 1, 1), "convolution: padding must be from 0 to 2147483647, but it is [-1]");
  EXPECT_EQ(with(1, int64_t{1} << 40, 1, 1),
            "convolution: padding must be from 0 to 2147483647, but it is [1099511627776]");
  EXPECT_EQ(with(1, 0, 3, 1),
            "Calculated padded input size of spatial dimension 0: 5. Kernel size: 3, dilation: 3. Kernel size can't be "
            "greater than actual input size");
  EXPECT_EQ(with(1, 0, 1, 2),
            "Given groups=2, weight of size [4, 4, 3, 3], expected input [1, 4, 5, 5] to have 8 channels, but got 4 "
            "channels instead");
}

TEST(Pool, WritesNothingWhenOneOutputDoesNotFit) {
  const Tensor x = ones({1, 1, 4, 4});
  Tensor out = zeros({1, 1, 2, 2});
  Tensor indices = zeros({1, 1, 2, 2});
  EXPECT_EQ(errorOf([&] { max_pool2d_with_indices_out(out, indices, x, {2}, {2}, {0}, {1}); }),
            "Expected out tensor to have dtype int64, but got float32 instead");
  EXPECT_TRUE(equal(out, zeros({1, 1, 2, 2})));
}

TEST(Pool, AWindowBetweenPaddingReadsNothing) {
  // The window covers places -1, 2 and 5 of the row, of which only 2 exists.
  const auto [values, indices] = max_pool1d_with_indices(counting({1, 1, 5}), {3}, {1}, {1}, {3}, true);
  EXPECT_EQ(toString(values), "tensor([[[2.]]])");
  EXPECT_EQ(toString(indices), "tensor([[[2]]])");
}

TEST(Upsample, RefusesSizesThatNothingCanHold) {
  EXPECT_EQ(errorOf([&] {
              upsample_nearest2d(ones({1, 1, 2, 2}), {int64_t{1} << 40, 2});
            }),
            "upsample_nearest2d: input and output sizes should be greater than 0, and at most 2147483647, but "
            "output_size is [1099511627776, 2]");
}

TEST(NllLoss, NamesTheTargetThatIsNoClass) {
  const Tensor target = add(zeros({2}, ScalarType::Long), 3);
  EXPECT_EQ(errorOf([&] {
              nll_loss(ones({2, 3}), target);
            }),
            "nll_loss: target 3 at place 0 is out of bounds for 3 classes");
}

}  // namespace
}  // namespace boxcar
