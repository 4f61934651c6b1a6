#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

using Indices = List<std::optional<Tensor>>;

Indices at(std::initializer_list<std::optional<Tensor>> indices) { return Indices(indices); }

TEST(Index, TakesElementsAtIntegers) {
  const Tensor x = counting({3, 4});
  EXPECT_EQ(toString(index(x, at({ints({2, 0, -1})}))),
            "tensor([[ 8.,  9., 10., 11.],\n        [ 0.,  1.,  2.,  3.],\n        [ 8.,  9., 10., 11.]])");
  EXPECT_EQ(toString(index(x, at({ints({0, 1}), ints({1, 3})}))), "tensor([1., 7.])");
  EXPECT_EQ(toString(index(x, at({std::nullopt, ints({1})}))), "tensor([[1.],\n        [5.],\n        [9.]])");
  EXPECT_EQ(toString(index(t(x), at({ints({1, 1})}))), "tensor([[1., 5., 9.],\n        [1., 5., 9.]])");
}

TEST(Index, PlacesTheIndexedDimensionsAsPyTorchDoes) {
  const Tensor x = zeros({2, 3, 4, 5});
  const Tensor i = ints({0, 1, 1, 0, 1, 1}, {6, 1});
  EXPECT_EQ(sizesOf(index(x, at({std::nullopt, i}))), (std::vector<int64_t>{2, 6, 1, 4, 5}));
  EXPECT_EQ(sizesOf(index(x, at({std::nullopt, i, i}))), (std::vector<int64_t>{2, 6, 1, 5}));
  EXPECT_EQ(sizesOf(index(x, at({i, std::nullopt, i}))), (std::vector<int64_t>{6, 1, 3, 5}));
  EXPECT_EQ(sizesOf(index(x, at({zeros({0}, ScalarType::Long)}))), (std::vector<int64_t>{0, 3, 4, 5}));
}

TEST(Index, TakesMasks) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(toString(index(x, at({gt(x, 2)}))), "tensor([3., 4., 5.])");
  EXPECT_EQ(toString(index(x, at({bools({false, true})}))), "tensor([[3., 4., 5.]])");
  EXPECT_EQ(toString(index(x, at({std::nullopt, bools({true, false, true})}))),
            "tensor([[0., 2.],\n        [3., 5.]])");
}

TEST(Index, NamesWhatIsWrong) {
  const Tensor x = counting({3, 2});
  EXPECT_EQ(errorOf([&] { index(x, at({ints({3})})); }), "index 3 is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(errorOf([&] { index(zeros({0}), at({ints({0})})); }), "index is out of bounds for dimension 0 with size 0");
  EXPECT_EQ(errorOf([&] {
              index(zeros({3, 0}), at({ints({0}), ints({0})}));
            }),
            "index 0 is out of bounds for dimension 1 with size 0");
  EXPECT_EQ(errorOf([&] {
              index_put(zeros({0, 3}), at({ints({0})}), zeros({}));
            }),
            "index is out of bounds for dimension 0 with size 0");
  EXPECT_EQ(shapeText(index(zeros({0, 3}), at({ints({})}))), "float32[0, 3]");
  EXPECT_EQ(errorOf([&] {
              index(x, at({ints({0, 1}), ints({0, 1, 0})}));
            }),
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]");
  EXPECT_EQ(errorOf([&] {
              index(x, at({bools({true, false})}));
            }),
            "The shape of the mask [2] at index 0 does not match the shape of the indexed tensor [3, 2] at index 0");
  EXPECT_EQ(errorOf([&] { index(x, at({floats({1})})); }),
            "tensors used as indices must be long, int, byte or bool tensors, found float32");
  EXPECT_EQ(errorOf([&] {
              index(x, at({ints({0}), ints({0}), ints({0})}));
            }),
            "too many indices for tensor of dimension 2 (got 3)");
}

TEST(IndexPut, WritesOrAdds) {
  Tensor x = zeros({2, 3});
  index_put_(x, at({ints({0, 1}), ints({1, 2})}), floats({5, 6}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 5, 0, 0, 0, 6}));
  index_put_(x, at({gt(x, 4)}), scalar_tensor(1));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 0, 0, 0, 1}));
  const Tensor twice = index_put(x, at({ints({0, 0}), ints({0, 0})}), floats({2, 3}), true);
  EXPECT_EQ(elements<float>(twice), (std::vector<float>{5, 1, 0, 0, 0, 1}));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(errorOf([&] {
              index_put_(x, at({ints({0})}), floats({1, 2}));
            }),
            "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of shape [1, 3]");
  EXPECT_EQ(
      errorOf([&] { index_put_(x, at({ints({0})}), ints({1})); }),
      "Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
      "source.");
}

TEST(IndexPut, LeavesTheTensorWholeWhenAnIndexIsWrong) {
  Tensor x = zeros({3});
  EXPECT_EQ(errorOf([&] {
              index_put_(x, at({ints({0, 5})}), scalar_tensor(1));
            }),
            "index 5 is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 0, 0}));
}

TEST(IndexSelect, TakesIndicesOfADimension) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(toString(index_select(x, 1, ints({2, 0, 2}))), "tensor([[2., 0., 2.],\n        [5., 3., 5.]])");
  EXPECT_EQ(toString(index_select(t(x), 0, tensorOf<int32_t>({1}))), "tensor([[1., 4.]])");
  EXPECT_EQ(errorOf([&] { index_select(x, 0, ints({2})); }),
            "index_select(): index 2 is out of bounds for dimension 0 with size 2");
  EXPECT_EQ(errorOf([&] { index_select(x, 0, floats({1})); }),
            "index_select(): Expected dtype int32 or int64 for index, found float32");
}

TEST(Gather, TakesAnIndexForEachElement) {
  const Tensor x = counting({2, 3});
  EXPECT_EQ(toString(gather(x, 1, ints({2, 0}, {2, 1}))), "tensor([[2.],\n        [3.]])");
  EXPECT_EQ(toString(gather(t(x), 0, ints({2, 1, 0, 0}, {2, 2}))), "tensor([[2., 4.],\n        [0., 3.]])");
  EXPECT_EQ(errorOf([&] { gather(x, 1, ints({3}, {1, 1})); }), "index 3 is out of bounds for dimension 1 with size 3");
  EXPECT_EQ(errorOf([&] {
              gather(x, 1, ints({0, 0, 0}, {3, 1}));
            }),
            "Size does not match at dimension 0 expected index [3, 1] to be smaller than self [2, 3] apart from "
            "dimension 1");
}

TEST(Nonzero, GivesIndicesInOrder) {
  EXPECT_EQ(toString(nonzero(floats({0, 2, 3, 0}, {2, 2}))), "tensor([[0, 1],\n        [1, 0]])");
  EXPECT_EQ(shapeText(nonzero(scalar_tensor(1))), "int64[1, 0]");
  EXPECT_EQ(shapeText(nonzero(zeros({3}))), "int64[0, 1]");
}

TEST(Cat, JoinsAlongADimension) {
  const Tensor parts[] = {counting({2, 2}), ones({1, 2}, ScalarType::Long)};
  EXPECT_EQ(toString(cat(parts)), "tensor([[0., 1.],\n        [2., 3.],\n        [1., 1.]])");
  const Tensor columns[] = {counting({2, 1}), t(counting({2, 2}))};
  EXPECT_EQ(toString(cat(columns, -1)), "tensor([[0., 0., 2.],\n        [1., 1., 3.]])");
  const Tensor with_empty[] = {zeros({0}), counting({1, 2})};
  EXPECT_EQ(shapeText(cat(with_empty)), "float32[1, 2]");
  const Tensor promoted[] = {ints({1}), floats({0.5})};
  EXPECT_EQ(toString(cat(promoted)), "tensor([1.0000, 0.5000])");
}

TEST(Cat, NamesTheTensorThatDoesNotFit) {
  const Tensor wide[] = {zeros({2, 3}), zeros({2, 4})};
  EXPECT_EQ(errorOf([&] { cat(wide); }),
            "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in "
            "the list.");
  const Tensor flat[] = {zeros({2, 3}), zeros({2})};
  EXPECT_EQ(errorOf([&] { cat(flat); }), "Tensors must have same number of dimensions: got 2 and 1");
  const Tensor numbers[] = {zeros({2}), scalar_tensor(1)};
  EXPECT_EQ(errorOf([&] { cat(numbers); }), "zero-dimensional tensor (at position 1) cannot be concatenated");
  EXPECT_TRUE(errorOf([] { cat(TensorList()); }).starts_with("could not run aten::cat: it needs at least one tensor"));
}

TEST(Stack, AddsADimension) {
  const Tensor parts[] = {floats({1, 2}), floats({3, 4})};
  EXPECT_EQ(toString(stack(parts)), "tensor([[1., 2.],\n        [3., 4.]])");
  EXPECT_EQ(toString(stack(parts, -1)), "tensor([[1., 3.],\n        [2., 4.]])");
  const Tensor unequal[] = {zeros({2}), zeros({3})};
  EXPECT_EQ(errorOf([&] { stack(unequal); }),
            "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1");
}

}  // namespace
}  // namespace boxcar
