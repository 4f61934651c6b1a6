#include <gtest/gtest.h>

#include <limits>

#include "tests/backends/tensor_helpers.h"

// Covers what the cases of tests/numerics do not: texts of errors, unchanged arguments, huge sizes.

namespace boxcar {
namespace {

using Ints = std::vector<int64_t>;

TEST(Shapes, InPlaceViewsChangeTheTensorItself) {
  Tensor x = counting({2, 3});
  const Tensor same = x;
  transpose_(x, 0, 1);
  EXPECT_EQ(sizesOf(same), (Ints{3, 2}));
  EXPECT_EQ(stridesOf(same), (Ints{1, 3}));
  unsqueeze_(x, 0);
  squeeze_(x);
  EXPECT_TRUE(x.is_same(same));
  EXPECT_NE(errorOf([&] { as_strided_(x, {7}, {1}); }), "no error");
  EXPECT_EQ(sizesOf(x), (Ints{3, 2}));
}

TEST(Shapes, HugeSizesAreRefused) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const Tensor x = ones({4, 4});
  EXPECT_EQ(errorOf([&] { repeat(x, {kHuge, 1}); }), "repeat(): 4611686018427387904 times size 4 is too large");
  EXPECT_NE(errorOf([&] { constant_pad_nd(x, {kHuge, kHuge}); }), "no error");
  EXPECT_NE(errorOf([&] { diag_embed(x, kHuge); }), "no error");
  EXPECT_NE(errorOf([&] { eye(kHuge); }), "no error");
  EXPECT_NE(errorOf([&] { tril_indices(kHuge, kHuge); }), "no error");
  EXPECT_NE(errorOf([&] { pixel_shuffle(zeros({0, 4, 4}), kHuge); }), "no error");
  EXPECT_NE(errorOf([&] { repeat_interleave(x, kHuge, 0); }), "no error");
  EXPECT_EQ(sizesOf(unfold(x, 0, 4, kHuge)), (Ints{1, 4, 4}));
}

TEST(Shapes, MorePartsThanAListHoldsAreRefusedByName) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(
      errorOf([&] { tensor_split(ones({3}), kMost); }),
      "tensor_split: 9223372036854775807 parts are more than a list can hold; ask for 1152921504606846975 at most");
  EXPECT_EQ(errorOf([&] { chunk(ones({0}), kMost); }),
            "chunk: 9223372036854775807 parts are more than a list can hold; ask for 1152921504606846975 at most");
  EXPECT_EQ(errorOf([&] { unbind(expand(ones({1}), {kMost})); }),
            "unbind: 9223372036854775807 parts are more than a list can hold; ask for 1152921504606846975 at most");
  EXPECT_EQ(chunk(ones({3}), kMost).size(), 3u);
  EXPECT_EQ(chunk(ones({0}), 4).size(), 4u);
}

TEST(Shapes, OutputsAreLeftAloneByWhatIsRefused) {
  Tensor out = ones({2});
  EXPECT_NE(errorOf([&] { full_out(out, {3}, std::complex<double>(0, 1)); }), "no error");
  EXPECT_NE(errorOf([&] {
              const Tensor parts[] = {ones({2, 2}), ones({3, 3})};
              cat_out(out, parts, 0);
            }),
            "no error");
  EXPECT_NE(errorOf([&] { linspace_out(out, 0, 1, -1); }), "no error");
  EXPECT_EQ(elements<float>(out), (std::vector<float>{1, 1}));
  const Tensor parts[] = {out, out};
  EXPECT_NE(errorOf([&] { cat_out(out, parts, 0); }).find("overlap in input tensor 0"), std::string::npos);
}

TEST(Shapes, FactoriesAndCopiesOnMetaHaveNoData) {
  const Device meta(DeviceType::Meta);
  const Tensor x = empty({1 << 20, 1 << 20}, std::nullopt, std::nullopt, meta);
  EXPECT_TRUE(x.is_meta());
  EXPECT_EQ(shapeText(repeat(x, {2, 1})), "float32[2097152, 1048576]");
  EXPECT_EQ(shapeText(tril(flip(x, {0}))), "float32[1048576, 1048576]");
  EXPECT_EQ(shapeText(constant_pad_nd(x, {1, 0})), "float32[1048576, 1048577]");
  EXPECT_EQ(shapeText(triu_indices(3, 3, 0, ScalarType::Long, std::nullopt, meta)), "int64[2, 6]");
  EXPECT_EQ(shapeText(linspace(0, 1, 5, std::nullopt, std::nullopt, meta)), "float32[5]");
  EXPECT_EQ(errorOf([&] {
              Tensor y = ones({2});
              copy_(y, empty({2}, std::nullopt, std::nullopt, meta));
            }),
            "Cannot copy out of meta tensor; no data!");
}

}  // namespace
}  // namespace boxcar
