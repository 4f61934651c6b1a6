#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

TEST(To, GivesItselfWhereNothingChanges) {
  const Tensor x = floats({1, 2});
  EXPECT_TRUE(to(x, ScalarType::Float).is_same(x));
  EXPECT_FALSE(to(x, ScalarType::Float, false, /*copy=*/true).is_same(x));
  EXPECT_TRUE(to(x, x).is_same(x));
  EXPECT_TRUE(to(x, Device("cpu"), ScalarType::Float).is_same(x));
  EXPECT_TRUE(contiguous(x).is_same(x));
}

TEST(To, ConvertsAsPyTorchDoes) {
  EXPECT_EQ(toString(to(floats({1.9f, -1.9f}), ScalarType::Long)), "tensor([ 1, -1])");
  EXPECT_EQ(toString(to(floats({0, 0.1f}), ScalarType::Bool)), "tensor([False,  True])");
  EXPECT_EQ(toString(to(floats({-1, 300}), ScalarType::Byte)), "tensor([255,  44], dtype=torch.uint8)");
  EXPECT_EQ(toString(to(ints({257, -1}), ScalarType::Char)), "tensor([ 1, -1], dtype=torch.int8)");
  EXPECT_EQ(toString(to(bools({true, false}), ScalarType::Float)), "tensor([1., 0.])");
  EXPECT_EQ(toString(to(tensorOf<std::complex<float>>({{1, 2}}), ScalarType::Float)), "tensor([1.])");
  EXPECT_EQ(to(floats({70000}), ScalarType::Half).data_ptr<Half>()->bits, 0x7c00);
  EXPECT_EQ(type_as(ints({1}), floats({1})).scalar_type(), ScalarType::Float);
}

TEST(Clone, KeepsTheOrderOfDimensionsInMemory) {
  const Tensor x = t(counting({2, 3}));
  EXPECT_EQ(stridesOf(clone(x)), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(stridesOf(clone(x, MemoryFormat::Contiguous)), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(stridesOf(contiguous(x)), (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(equal(clone(x), x));
  EXPECT_NE(clone(x).storage(), x.storage());
  EXPECT_EQ(stridesOf(contiguous(zeros({2, 3, 4, 5}), MemoryFormat::ChannelsLast)),
            (std::vector<int64_t>{60, 1, 15, 3}));
  EXPECT_EQ(errorOf([] { contiguous(zeros({2}), MemoryFormat::ChannelsLast); }),
            "required rank 4 tensor to use channels_last format, but the tensor has rank 1");
}

TEST(Copy, BroadcastsAndConverts) {
  Tensor x = zeros({2, 3}, ScalarType::Long);
  copy_(x, floats({1.5f, 2.5f, 3.5f}));
  EXPECT_EQ(elements<int64_t>(x), (std::vector<int64_t>{1, 2, 3, 1, 2, 3}));
  Tensor transposed = t(x);
  copy_(transposed, counting({3, 2}));
  EXPECT_EQ(elements<int64_t>(x), (std::vector<int64_t>{0, 2, 4, 1, 3, 5}));
  Tensor small = zeros({3});
  EXPECT_EQ(errorOf([&] { copy_(small, zeros({2})); }),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0");
  EXPECT_EQ(errorOf([&] {
              copy_(small, zeros({2, 3}));
            }),
            "output with shape [3] doesn't match the broadcast shape [2, 3]");
}

TEST(Copy, RefusesASourceThatItOverlapsInPart) {
  const Tensor x = counting({5});
  Tensor tail = slice(x, 0, 1);
  EXPECT_EQ(errorOf([&] { copy_(tail, slice(x, 0, 0, 4)); }),
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            "memory location. Please clone() the tensor before performing the operation.");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST(Item, ReadsOneElement) {
  EXPECT_EQ(item(floats({2.5}, {1, 1})).toDouble(), 2.5);
  EXPECT_TRUE(item(bools({true})).isBoolean());
  EXPECT_TRUE(item(ints({7})).isIntegral(false));
  EXPECT_EQ(item(tensorOf<std::complex<float>>({{1, 2}})).toComplexDouble(), std::complex<double>(1, 2));
  EXPECT_EQ(errorOf([] { item(floats({1, 2})); }), "a Tensor with 2 elements cannot be converted to Scalar");
  EXPECT_EQ(errorOf([] { item(zeros({0})); }), "a Tensor with 0 elements cannot be converted to Scalar");
}

TEST(Eq, ComparesSizesAndElements) {
  EXPECT_TRUE(equal(floats({1, 2}), floats({1, 2})));
  EXPECT_TRUE(equal(floats({1, 2}), ints({1, 2})));
  EXPECT_FALSE(equal(floats({1, 2}), floats({1, 3})));
  EXPECT_FALSE(equal(zeros({2, 1}), zeros({2})));
  EXPECT_TRUE(equal(zeros({0}), zeros({0})));
  EXPECT_TRUE(is_same_size(zeros({2, 1}), ones({2, 1}, ScalarType::Int)));
}

}  // namespace
}  // namespace boxcar
