#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

TEST(View, SharesElements) {
  const Tensor x = zeros({2, 3});
  Tensor flat = view(x, {-1});
  fill_(flat, 4);
  EXPECT_EQ(item(sum(x)).toDouble(), 24.0);
  EXPECT_EQ(flat.storage(), x.storage());
  EXPECT_EQ(sizesOf(view(x, {3, -1})), (Ints{3, 2}));
  EXPECT_EQ(sizesOf(view(x, {1, 2, 1, 3, 1})), (Ints{1, 2, 1, 3, 1}));
}

TEST(View, OfGappedMemoryWhereDimensionsFollowEachOther) {
  const Tensor x = slice(counting({4, 6}), 1, 0, 3);
  EXPECT_EQ(stridesOf(view(x, {2, 2, 3})), (Ints{12, 6, 1}));
  EXPECT_EQ(errorOf([&] { view(x, {12}); }),
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead. The input has sizes [4, 3] and strides [6, 1], the view "
            "sizes [12].");
  EXPECT_EQ(elements<float>(reshape(x, {12})), elements<float>(x));
}

TEST(View, NamesWrongSizes) {
  const Tensor x = zeros({5});
  EXPECT_EQ(errorOf([&] { view(x, {2, 3}); }), "shape '[2, 3]' is invalid for input of size 5");
  EXPECT_EQ(errorOf([&] { view(x, {-1, 2}); }), "shape '[-1, 2]' is invalid for input of size 5");
  EXPECT_EQ(errorOf([&] {
              view(x, {-1, -1});
            }),
            "only one dimension can be inferred, but shape '[-1, -1]' has -1 twice");
  EXPECT_EQ(errorOf([&] { view(x, {-2, 5}); }), "invalid shape dimension -2 at index 0 of shape [-2, 5]");
  EXPECT_EQ(
      errorOf([&] {
        view(zeros({0}), {-1, 0});
      }),
      "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size -1 can be any "
      "value and is ambiguous");
}

TEST(Reshape, IsAViewWherePossible) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(reshape(x, {3, 2}).storage(), x.storage());
  const Tensor copied = reshape(t(x), {6});
  EXPECT_NE(copied.storage(), x.storage());
  EXPECT_EQ(elements<float>(copied), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Transpose, SwapsDimensions) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(sizesOf(transpose(x, 0, -1)), (Ints{4, 3, 2}));
  EXPECT_EQ(stridesOf(transpose(x, 0, -1)), (Ints{1, 4, 12}));
  EXPECT_EQ(sizesOf(permute(x, {2, 0, -2})), (Ints{4, 2, 3}));
  EXPECT_EQ(sizesOf(t(zeros({3}))), (Ints{3}));
  EXPECT_EQ(errorOf([&] { t(x); }), "t() expects a tensor with <= 2 dimensions, but self is 3D");
  EXPECT_EQ(errorOf([&] { transpose(x, 0, 3); }),
            "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
  EXPECT_EQ(errorOf([&] { permute(x, {0, 0, 1}); }), "permute(): duplicate dims are not allowed: [0, 0, 1]");
}

TEST(Select, TakesOneIndex) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(toString(select(x, 0, 1)), "tensor([3., 4., 5.])");
  EXPECT_EQ(toString(select(x, 1, -1)), "tensor([2., 5.])");
  EXPECT_EQ(errorOf([&] { select(x, 0, 2); }),
            "select(): index 2 out of range for tensor of size [2, 3] at dimension 0");
  EXPECT_EQ(errorOf([] { select(scalar_tensor(1), 0, 0); }), "select() cannot be applied to a 0-dim tensor.");
}

TEST(Slice, ClampsItsBounds) {
  const Tensor x = counting({5});
  EXPECT_EQ(toString(slice(x, 0, 1, 4)), "tensor([1., 2., 3.])");
  EXPECT_EQ(toString(slice(x, 0, -2)), "tensor([3., 4.])");
  EXPECT_EQ(toString(slice(x, 0, 0, 100, 2)), "tensor([0., 2., 4.])");
  EXPECT_EQ(slice(x, 0, 4, 2).numel(), 0);
  EXPECT_EQ(slice(x, 0, -100, -50).numel(), 0);
  EXPECT_EQ(errorOf([&] { slice(x, 0, 0, 5, 0); }), "slice step must be positive, but it is 0");
}

TEST(Slice, RefusesStepsThatNoStrideCanBe) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(toString(slice(counting({3}), 0, 1, 3, kMost)), "tensor([1.])");
  EXPECT_EQ(errorOf([] {
              slice(counting({3, 4}), 0, 0, 3, kMost);
            }),
            "slice(): a step of 9223372036854775807 along dimension 0 is longer than 63 bits can count");
}

// The strides of tensors without elements may need more than 63 bits.
TEST(View, OfNothingMayHaveAnySizes) {
  constexpr int64_t kLarge = int64_t{1} << 32;
  EXPECT_EQ(sizesOf(view(zeros({0}), {0, kLarge, kLarge})), (Ints{0, kLarge, kLarge}));
  const Tensor x = zeros({5, kLarge, kLarge, 0});
  EXPECT_EQ(sizesOf(select(x, 0, 2)), (Ints{kLarge, kLarge, 0}));
  EXPECT_EQ(sizesOf(slice(x, 0, 2, 4)), (Ints{2, kLarge, kLarge, 0}));
  EXPECT_EQ(sizesOf(unsqueeze(x, 0)), (Ints{1, 5, kLarge, kLarge, 0}));
  EXPECT_EQ(sizesOf(add(transpose(x, 0, 1), transpose(x, 0, 1))), (Ints{kLarge, 5, kLarge, 0}));
}

TEST(View, OfStridesThatCannotBe) {
  constexpr int64_t kAmin = std::numeric_limits<int64_t>::min();
  const int64_t sizes[] = {kAmin};
  const int64_t strides[] = {1};
  EXPECT_EQ(errorOf([&] { as_strided(zeros({3}), sizes, strides); }),
            "a tensor cannot have a negative dimension: sizes [-9223372036854775808]");
}

TEST(View, OfMoreDimensionsThanBitsIsRefusedWhereBitsTellThem) {
  const Tensor x = zeros(std::vector<int64_t>(65, 1));
  const std::string refusal = "only tensors with up to 64 dims are supported, this has 65";
  EXPECT_EQ(errorOf([&] { squeeze(x); }), refusal);
  EXPECT_EQ(errorOf([&] { squeeze(x, 0); }), refusal);
  EXPECT_EQ(errorOf([&] { permute(x, std::vector<int64_t>(65, 0)); }), refusal);
  EXPECT_EQ(errorOf([&] { sum(x); }), refusal);
  EXPECT_EQ(errorOf([&] { argmax(x, 0); }), refusal);
  EXPECT_EQ(errorOf([&] { all(x, 0); }), refusal);
  EXPECT_EQ(transpose(x, 0, 64).dim(), 65);
}

TEST(Narrow, StaysInside) {
  const Tensor x = counting({5});
  EXPECT_EQ(toString(narrow(x, 0, 1, 2)), "tensor([1., 2.])");
  EXPECT_EQ(toString(narrow(x, 0, -2, 2)), "tensor([3., 4.])");
  EXPECT_EQ(errorOf([&] { narrow(x, 0, 4, 2); }), "start (4) + length (2) exceeds dimension size (5).");
}

TEST(Squeeze, RemovesSizesOfOne) {
  const Tensor x = zeros({1, 2, 1});
  EXPECT_EQ(sizesOf(squeeze(x)), (Ints{2}));
  EXPECT_EQ(sizesOf(squeeze(x, 0)), (Ints{2, 1}));
  EXPECT_EQ(sizesOf(squeeze(x, 1)), (Ints{1, 2, 1}));
  EXPECT_EQ(sizesOf(squeeze(x, IntArrayRef{0, -1})), (Ints{2}));
  EXPECT_EQ(sizesOf(unsqueeze(zeros({2}), -1)), (Ints{2, 1}));
  EXPECT_EQ(sizesOf(unsqueeze(zeros({2}), 0)), (Ints{1, 2}));
}

TEST(Expand, RepeatsSizesOfOne) {
  const Tensor x = floats({1, 2}, {2, 1});
  EXPECT_EQ(toString(expand(x, {2, 3})), "tensor([[1., 1., 1.],\n        [2., 2., 2.]])");
  EXPECT_EQ(sizesOf(expand(x, {4, -1, 3})), (Ints{4, 2, 3}));
  EXPECT_EQ(stridesOf(expand(x, {4, -1, 3})), (Ints{0, 1, 0}));
  EXPECT_EQ(
      errorOf([&] {
        expand(x, {3, 3});
      }),
      "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension 0.  Target "
      "sizes: [3, 3].  Tensor sizes: [2, 1]");
  EXPECT_EQ(errorOf([&] {
              expand(x, {-1, 2, 3});
            }),
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0");
  EXPECT_EQ(errorOf([&] { expand(x, {3}); }),
            "expand: the number of sizes given ([3]) must be at least the number of dimensions of the tensor ([2, 1])");
}

TEST(Flatten, JoinsDimensions) {
  const Tensor x = counting({2, 3, 4});
  EXPECT_EQ(sizesOf(flatten(x)), (Ints{24}));
  EXPECT_EQ(sizesOf(flatten(x, 1)), (Ints{2, 12}));
  EXPECT_EQ(sizesOf(flatten(x, 0, 1)), (Ints{6, 4}));
  EXPECT_EQ(sizesOf(flatten(scalar_tensor(1))), (Ints{1}));
  EXPECT_EQ(errorOf([&] { flatten(x, 2, 1); }),
            "flatten() has invalid args: start_dim (2) cannot come after end_dim (1)");
}

TEST(Split, GivesViews) {
  const Tensor x = counting({5});
  const std::vector<Tensor> parts = split(x, 2);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(toString(parts[2]), "tensor([4.])");
  EXPECT_EQ(parts[1].storage(), x.storage());
  EXPECT_EQ(chunk(x, 2).size(), 2u);
  EXPECT_EQ(sizesOf(chunk(x, 2)[0]), (Ints{3}));
  EXPECT_EQ(unbind(counting({2, 3})).size(), 2u);
  EXPECT_EQ(errorOf([&] { split(x, 0); }),
            "split_size can only be 0 if dimension size is 0, but got dimension size of 5");
}

TEST(AsStrided, StaysInsideTheStorage) {
  const Tensor x = counting({6});
  EXPECT_EQ(toString(as_strided(x, {2, 2}, {1, 2}, 1)), "tensor([[1., 3.],\n        [2., 4.]])");
  EXPECT_NE(errorOf([&] { as_strided(x, {7}, {1}); }), "no error");
}

}  // namespace
}  // namespace boxcar
