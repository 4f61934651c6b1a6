#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

TEST(Factories, FillNewTensors) {
  EXPECT_EQ(toString(zeros({2, 2})), "tensor([[0., 0.],\n        [0., 0.]])");
  EXPECT_EQ(toString(ones({2}, ScalarType::Int)), "tensor([1, 1], dtype=torch.int32)");
  EXPECT_EQ(toString(full({2}, 2.5)), "tensor([2.5000, 2.5000])");
  EXPECT_EQ(toString(full({2}, 7)), "tensor([7, 7])");
  EXPECT_EQ(toString(full({1}, true)), "tensor([True])");
  EXPECT_EQ(full({1}, std::complex<double>(1, 2)).scalar_type(), ScalarType::ComplexFloat);
  EXPECT_EQ(toString(scalar_tensor(3)), "tensor(3.)");
  EXPECT_EQ(shapeText(empty({0, 5})), "float32[0, 5]");
}

TEST(Factories, RefuseWhatCannotBe) {
  EXPECT_EQ(errorOf([] { zeros({2, -1}); }), "Trying to create tensor with negative dimension -1: [2, -1]");
  EXPECT_EQ(errorOf([] { zeros({2}, std::nullopt, Layout::Sparse); }),
            "layout sparse_coo is not supported, only strided tensors are");
  EXPECT_EQ(errorOf([] {
              zeros({int64_t{1} << 40, int64_t{1} << 40});
            }),
            "a tensor of sizes [1099511627776, 1099511627776] has more elements than 63 bits can count");
}

TEST(Factories, FollowATensor) {
  const Tensor x = t(zeros({3, 4}, ScalarType::Double));
  EXPECT_EQ(stridesOf(zeros_like(x)), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(ones_like(x, ScalarType::Int).scalar_type(), ScalarType::Int);
  EXPECT_EQ(toString(full_like(floats({1, 2}), 7)), "tensor([7., 7.])");
  EXPECT_EQ(stridesOf(empty_like(x, std::nullopt, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous)),
            (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(stridesOf(empty({2, 3, 4, 5}, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                            MemoryFormat::ChannelsLast)),
            (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(stridesOf(empty_strided({2, 3}, {1, 10})), (std::vector<int64_t>{1, 10}));
}

TEST(Arange, CountsFromStartToBeforeEnd) {
  EXPECT_EQ(toString(arange(5)), "tensor([0, 1, 2, 3, 4])");
  EXPECT_EQ(toString(arange(2, 5)), "tensor([2, 3, 4])");
  EXPECT_EQ(toString(arange(5, 0, -2)), "tensor([5, 3, 1])");
  EXPECT_EQ(toString(arange(0, 1, 0.25)), "tensor([0.0000, 0.2500, 0.5000, 0.7500])");
  EXPECT_EQ(arange(0, 1, 0.1).numel(), 10);
  EXPECT_EQ(toString(arange(2.5, ScalarType::Int)), "tensor([0, 1, 2], dtype=torch.int32)");
  EXPECT_EQ(toString(arange(3, ScalarType::Float)), "tensor([0., 1., 2.])");
  EXPECT_EQ(arange(0).numel(), 0);
  EXPECT_EQ(errorOf([] { arange(3, 10, 0); }), "step must be nonzero");
  EXPECT_EQ(errorOf([] { arange(3, 1); }),
            "upper bound and larger bound inconsistent with step sign: from 3 to 1 in steps of 1");
  EXPECT_EQ(errorOf([] { arange(std::numeric_limits<double>::infinity()); }), "unsupported range: 0 -> inf");
}

TEST(Fill, WritesOneValue) {
  Tensor x = zeros({2, 3});
  Tensor column = select(x, 1, 0);
  fill_(column, 2);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{2, 0, 0, 2, 0, 0}));
  fill_(x, scalar_tensor(1.5));
  EXPECT_EQ(item(sum(x)).toDouble(), 9.0);
  zero_(column);
  EXPECT_EQ(item(sum(x)).toDouble(), 6.0);
  Tensor integers = ints({1, 2});
  fill_(integers, 2.9);
  EXPECT_EQ(elements<int64_t>(integers), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(errorOf([&] { fill_(x, ones({2})); }),
            "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.");
  Tensor number = scalar_tensor(1);
  const Tensor nowhere = scalar_tensor(1, std::nullopt, std::nullopt, Device(DeviceType::Meta));
  const std::string refusal =
      "Expected all tensors to be on the same device, but found at least two devices, cpu and meta! Move one with "
      ".to('meta')";
  EXPECT_EQ(errorOf([&] { fill_(number, nowhere); }), refusal);
  EXPECT_EQ(errorOf([&] { masked_fill(number, gt(number, 0), nowhere); }), refusal);
}

}  // namespace
}  // namespace boxcar
