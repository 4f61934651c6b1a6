#include <boxcar/backends/cpu/parallel.h>
#include <gtest/gtest.h>

#include "tests/backends/tensor_helpers.h"

namespace boxcar {
namespace {

TEST(Scatter, WritesNothingWhenAnIndexIsWrong) {
  Tensor x = zeros({4});
  EXPECT_EQ(errorOf([&] {
              scatter_add_(x, 0, ints({0, 4}), floats({1, 1}));
            }),
            "scatter_add(): index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(errorOf([&] {
              index_copy_(x, 0, ints({0, -1}), floats({1, 1}));
            }),
            "index_copy(): index -1 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(errorOf([&] {
              index_fill_(x, 0, ints({0, -5}), 1);
            }),
            "index_fill_(): index -5 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(errorOf([&] {
              masked_scatter_(x, bools({true, true, true, true}), floats({1, 1}));
            }),
            "masked_scatter: expected source to have as many elements as the mask has ones, 4, but it has 2");
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 0, 0, 0}));
}

TEST(Scatter, RefusesMemoryOfItsOwnArguments) {
  Tensor x = counting({4});
  EXPECT_TRUE(errorOf([&] { scatter_(x, 0, ints({1, 0}), x); }).starts_with("unsupported operation: some elements"));
  Tensor wide = expand(zeros({1}), {4});
  EXPECT_TRUE(errorOf([&] { scatter_(wide, 0, ints({1}), 1); }).starts_with("unsupported operation: more than one"));
  Tensor part = slice(x, 0, 0, 2);
  EXPECT_TRUE(errorOf([&] { gather_out(part, x, 0, ints({1, 0})); }).starts_with("unsupported operation"));
  EXPECT_EQ(elements<float>(x), (std::vector<float>{0, 1, 2, 3}));
}

TEST(Scatter, AddsDuplicatesInOrderWithThreadsToo) {
  const int64_t rows = 4096;
  const Tensor index = view(remainder(arange(rows * 32, ScalarType::Long), 7), {rows, 32});
  const Tensor source = div(counting({rows, 32}), 3);
  const int before = cpu::threadCount();
  cpu::setThreadCount(1);
  const Tensor alone = scatter_add(zeros({8, 32}), 0, index, source);
  const Tensor slices = index_add(zeros({7, 32}), 0, select(index, 1, 0), source);
  cpu::setThreadCount(4);
  EXPECT_EQ(elements<float>(scatter_add(zeros({8, 32}), 0, index, source)), elements<float>(alone));
  EXPECT_EQ(elements<float>(index_add(zeros({7, 32}), 0, select(index, 1, 0), source)), elements<float>(slices));
  cpu::setThreadCount(before);
}

TEST(IndexSelect, ChecksIndicesOfNoElements) {
  EXPECT_EQ(errorOf([] {
              index_select(zeros({2, 0}), 0, ints({2}));
            }),
            "index_select(): index 2 is out of bounds for dimension 0 with size 2");
}

TEST(IndexSelect, NeedsNoIndexThatIsThereWhereThereIsNone) {
  const Tensor none = expand(ints({7}), {0});
  EXPECT_EQ(shapeText(index_select(zeros({3}), 0, none)), "float32[0]");
  EXPECT_EQ(shapeText(index_select(zeros({3}), 0, as_strided(ints({}), {0}, {0}))), "float32[0]");
  Tensor x = zeros({3});
  index_put_(x, List<std::optional<Tensor>>{none}, zeros({0}));
  index_copy_(x, 0, none, zeros({0}));
  index_fill_(x, 0, none, 1);
  EXPECT_EQ(toString(x), "tensor([0., 0., 0.])");
}

TEST(Masks, AreOfBools) {
  const Tensor mask = tensorOf<uint8_t>({1, 0, 1});
  EXPECT_EQ(errorOf([&] { masked_scatter(zeros({3}), mask, ones({3})); }),
            "masked_scatter: expected a mask of bools, but it is of uint8; say mask != 0, or mask.to(bool)");
  EXPECT_EQ(errorOf([&] { masked_select(zeros({3}), mask); }),
            "masked_select: expected a mask of bools, but it is of uint8; say mask != 0, or mask.to(bool)");
  EXPECT_EQ(toString(masked_scatter(zeros({3}), ne(mask, 0), floats({5, 6}))), "tensor([5., 0., 6.])");
}

TEST(IndexPut, OfSeveralIndicesChecksEach) {
  Tensor x = zeros({2, 3});
  index_put_(x, List<std::optional<Tensor>>{ints({1, 0, 1}), ints({2, 0, -3})}, floats({1, 2, 3}));
  EXPECT_EQ(toString(x), "tensor([[2., 0., 0.],\n        [3., 0., 1.]])");
  EXPECT_EQ(errorOf([&] {
              index_put_(x, List<std::optional<Tensor>>{ints({0, 1}), ints({0, 3})}, floats({9, 9}));
            }),
            "index 3 is out of bounds for dimension 1 with size 3");
  EXPECT_EQ(toString(x), "tensor([[2., 0., 0.],\n        [3., 0., 1.]])");
}

TEST(Sort, PutsNanLastAndKeepsEqualElementsInOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto [values, indices] = sort(floats({0, nan, -0.0f, -1, 0}), 0);
  EXPECT_EQ(toString(values), "tensor([-1.,  0., -0.,  0., nan])");
  EXPECT_EQ(elements<int64_t>(indices), (std::vector<int64_t>{3, 0, 2, 4, 1}));
  const auto [falling, places] = sort(floats({0, nan, -0.0f, -1, 0}), 0, /*descending=*/true);
  EXPECT_EQ(elements<int64_t>(places), (std::vector<int64_t>{1, 0, 2, 4, 3}));
}

TEST(Diff, OfOrderZeroIsTheInputAlone) {
  const Tensor x = floats({1, 2, 4});
  const Tensor same = diff(x, 0, 0, floats({9}), floats({8, 7}));
  EXPECT_EQ(toString(same), "tensor([1., 2., 4.])");
  EXPECT_NE(same.data_ptr(), x.data_ptr());
  EXPECT_EQ(toString(diff(x, 1, 0, floats({9}))), "tensor([-8.,  1.,  2.])");
  EXPECT_EQ(errorOf([&] {
              diff(x, 0, 0, zeros({2, 2}));
            }),
            "diff(): prepend must have as many dimensions as input, 1, but it has 2");
}

TEST(Sort, IsStableForLinesOfAnyLength) {
  for (const int64_t count : {3, 150, 201, 5000, 40000}) {
    const Tensor x = remainder(mul(arange(count, ScalarType::Long), 7919), 13);
    const auto [values, indices] = sort(x, 0);
    const std::vector<int64_t> sorted = elements<int64_t>(values);
    const std::vector<int64_t> places = elements<int64_t>(indices);
    const std::vector<int64_t> given = elements<int64_t>(x);
    for (size_t i = 0; i < sorted.size(); ++i) {
      ASSERT_EQ(sorted[i], given[static_cast<size_t>(places[i])]);
      if (i == 0) continue;
      ASSERT_TRUE(sorted[i - 1] < sorted[i] || (sorted[i - 1] == sorted[i] && places[i - 1] < places[i]));
    }
  }
}

TEST(Sort, WritesBothOutputsOrNone) {
  const Tensor x = floats({2, 1});
  Tensor values = zeros({2});
  Tensor indices = zeros({2});
  EXPECT_EQ(errorOf([&] { sort_out(values, indices, x, 0); }),
            "Expected out tensor to have dtype int64, but got float32 instead");
  EXPECT_EQ(elements<float>(values), (std::vector<float>{0, 0}));
}

TEST(Topk, NamesTheNumberThatIsTooLarge) {
  EXPECT_EQ(errorOf([] { topk(zeros({3}), 4); }),
            "topk(): selected index k out of range: k is 4, dimension 0 has size 3");
}

TEST(Topk, TakesTheFirstOfEqualElements) {
  const auto [values, indices] = topk(floats({1, 3, 3, 2, 3, 0, 0, 0, 0, 0, 0, 0}), 2);
  EXPECT_EQ(elements<float>(values), (std::vector<float>{3, 3}));
  EXPECT_EQ(elements<int64_t>(indices), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace boxcar
