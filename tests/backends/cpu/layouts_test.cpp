#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// Kernels that take another way for each layout of their tensors: all of them must give the same.

namespace boxcar {
namespace {

Tensor channelsLast(const Tensor& tensor) { return contiguous(tensor, MemoryFormat::ChannelsLast); }

// Few different numbers, so that many are equal, and some that are infinite or none.
Tensor imagesWithEquals(IntArrayRef sizes) {
  const Tensor result = contiguous(to(remainder(mul(counting(sizes, ScalarType::Long), 37), 11), ScalarType::Float));
  auto* data = result.data_ptr<float>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    if (i % 101 == 50) data[i] = std::numeric_limits<float>::quiet_NaN();
    if (i % 7 == 3) data[i] = -std::numeric_limits<float>::infinity();
  }
  return result;
}

void expectSame(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(sizesOf(a), sizesOf(b));
  EXPECT_TRUE(allclose(a, b, 0, 0, /*equal_nan=*/true));
}

TEST(MaxPool, OfAdjacentChannelsIsTheSame) {
  for (const int64_t channels : {1, 7, 8, 16, 37, 64}) {
    const Tensor images = imagesWithEquals({2, channels, 13, 17});
    const auto compare = [&](IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation) {
      const auto [values, places] = max_pool2d_with_indices(images, kernel, stride, padding, dilation);
      const auto [values2, places2] = max_pool2d_with_indices(channelsLast(images), kernel, stride, padding, dilation);
      EXPECT_TRUE(values2.is_contiguous() == (channels == 1));
      expectSame(values, values2);
      EXPECT_TRUE(equal(places, places2));
    };
    compare({3, 3}, {2, 2}, {1, 1}, {1, 1});
    compare({2, 2}, {2, 2}, {0, 0}, {1, 1});
    compare({5, 3}, {1, 2}, {2, 0}, {1, 1});
    compare({3, 2}, {1, 1}, {1, 1}, {2, 3});
    const auto [values, places] = adaptive_max_pool2d(images, {3, 5});
    const auto [values2, places2] = adaptive_max_pool2d(channelsLast(images), {3, 5});
    expectSame(values, values2);
    EXPECT_TRUE(equal(places, places2));
  }
}

TEST(MaxPool, OfLongWindowsOverAdjacentChannelsIsTheSame) {
  const Tensor images = imagesWithEquals({1, 16, 40, 40});
  const auto [values, places] = max_pool2d_with_indices(images, {33, 3}, {1, 1}, {0, 0});
  const auto [values2, places2] = max_pool2d_with_indices(channelsLast(images), {33, 3}, {1, 1}, {0, 0});
  expectSame(values, values2);
  EXPECT_TRUE(equal(places, places2));
}

TEST(AvgPool, OfAdjacentChannelsIsTheSame) {
  for (const int64_t channels : {1, 7, 16, 37}) {
    const Tensor images = sin(counting({2, channels, 13, 17}));
    const Tensor last = channelsLast(images);
    expectSame(avg_pool2d(images, {3, 3}, {2, 2}, {1, 1}), avg_pool2d(last, {3, 3}, {2, 2}, {1, 1}));
    expectSame(avg_pool2d(images, {3, 3}, {2, 2}, {1, 1}, false, false),
               avg_pool2d(last, {3, 3}, {2, 2}, {1, 1}, false, false));
    expectSame(adaptive_avg_pool2d(images, {3, 5}), adaptive_avg_pool2d(last, {3, 5}));
    expectSame(adaptive_avg_pool2d(images, {13, 17}), images);
  }
}

// Compares element by element with what the strides say.
template <class Word>
void expectCopied(const Tensor& source, const Tensor& copy) {
  ASSERT_TRUE(copy.is_contiguous());
  ASSERT_EQ(source.dim(), 3);
  const auto* from = static_cast<const Word*>(source.data_ptr());
  const auto* to = static_cast<const Word*>(copy.data_ptr());
  const std::vector<int64_t> sizes = sizesOf(source);
  const std::vector<int64_t> strides = stridesOf(source);
  int64_t wrong = 0;
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) {
      for (int64_t k = 0; k < sizes[2]; ++k) {
        wrong += *to++ != from[i * strides[0] + j * strides[1] + k * strides[2]];
      }
    }
  }
  EXPECT_EQ(wrong, 0) << shapeText(source);
}

TEST(Copy, OfPermutedDimensionsMovesEachElement) {
  // Whole square blocks, parts of them, and rows that are too short for them; small copies and shared ones.
  const std::vector<std::vector<int64_t>> all_sizes = {{2, 64, 48}, {3, 37, 53},   {1, 200, 3},  {2, 3, 300},
                                                       {1, 7, 15},  {2, 130, 270}, {1, 3, 20000}};
  const std::vector<std::vector<int64_t>> orders = {{0, 2, 1}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0}, {1, 0, 2}};
  for (const std::vector<int64_t>& sizes : all_sizes) {
    for (const std::vector<int64_t>& order : orders) {
      const auto permutedAs = [&](ScalarType type) {
        return permute(to(remainder(counting(sizes, ScalarType::Long), 251), type), order);
      };
      const Tensor bytes = permutedAs(ScalarType::Byte);
      expectCopied<uint8_t>(bytes, clone(bytes, MemoryFormat::Contiguous));
      const Tensor shorts = permutedAs(ScalarType::Short);
      expectCopied<int16_t>(shorts, clone(shorts, MemoryFormat::Contiguous));
      const Tensor words = permutedAs(ScalarType::Float);
      expectCopied<float>(words, clone(words, MemoryFormat::Contiguous));
      const Tensor doubles = permutedAs(ScalarType::Double);
      expectCopied<double>(doubles, clone(doubles, MemoryFormat::Contiguous));
    }
  }
}

TEST(Copy, WritesPermutedDimensionsToo) {
  const Tensor source = counting({40, 24, 32});
  Tensor target = permute(zeros({32, 40, 24}), {1, 2, 0});
  copy_(target, source);
  EXPECT_TRUE(equal(target, source));
  Tensor part = slice(zeros({40, 24, 64}), 2, 0, 64, 2);  // gaps between elements
  const Tensor turned = permute(counting({32, 24, 40}), {2, 1, 0});
  copy_(part, turned);
  EXPECT_TRUE(equal(part, turned));
}

constexpr int64_t kLastOfTwo[] = {1};
const std::optional<IntArrayRef> kRows = IntArrayRef(kLastOfTwo);

TEST(Sum, OfShortRowsIsThatOfEachRow) {
  for (const int64_t length : {1, 3, 8, 15, 16, 17, 49, 96, 196, 300, 1000}) {
    const Tensor rows = sin(counting({70, length}));
    const Tensor sums = sum(rows, kRows);
    const Tensor greatest = amax(rows, {1});
    const Tensor means = mean(rows, kRows);
    for (int64_t i = 0; i < 70; ++i) {
      const Tensor row = clone(select(rows, 0, i));
      ASSERT_TRUE(equal(select(sums, 0, i), sum(row))) << length;
      ASSERT_TRUE(equal(select(greatest, 0, i), amax(row, {0}))) << length;
      ASSERT_TRUE(equal(select(means, 0, i), mean(row))) << length;
    }
    // Rows with gaps between them, and rows that overlap.
    const Tensor wide = sin(counting({70, length + 5}));
    EXPECT_TRUE(equal(sum(slice(wide, 1, 0, length), kRows), sum(clone(slice(wide, 1, 0, length)), kRows)));
    const Tensor overlapping = as_strided(wide, {40, length}, {2, 1});
    EXPECT_TRUE(equal(sum(overlapping, kRows), sum(clone(overlapping), kRows)));
  }
}

TEST(Cat, OfAdjacentChannelsIsTheSame) {
  const Tensor a = counting({2, 5, 4, 3});
  const Tensor b = neg(counting({2, 3, 4, 3}));
  const Tensor joined = cat({a, b}, 1);
  const Tensor last = cat({channelsLast(a), channelsLast(b)}, 1);
  EXPECT_TRUE(last.is_contiguous() == false);
  EXPECT_EQ(stridesOf(last), (std::vector<int64_t>{96, 1, 24, 8}));
  EXPECT_TRUE(equal(last, joined));
  EXPECT_TRUE(equal(cat({channelsLast(a), floats({}), b}, 1), joined));
  EXPECT_TRUE(equal(cat({channelsLast(a), channelsLast(a)}, 0), cat({a, a}, 0)));
  EXPECT_TRUE(equal(cat({channelsLast(a), channelsLast(a)}, 2), cat({a, a}, 2)));
  EXPECT_TRUE(equal(cat({channelsLast(a), channelsLast(a)}, 3), cat({a, a}, 3)));
  const Tensor doubled = to(channelsLast(b), ScalarType::Double);
  EXPECT_TRUE(equal(cat({channelsLast(a), doubled}, 1), to(joined, ScalarType::Double)));
}

TEST(Cat, OfAFewLongRowsIsSharedAndWhole) {
  const Tensor a = counting({1, 20, 40, 50});
  const Tensor b = neg(a);
  for (const bool is_last : {false, true}) {
    const Tensor joined = is_last ? cat({channelsLast(a), channelsLast(b)}, 1) : cat({a, b}, 1);
    EXPECT_TRUE(equal(slice(joined, 1, 0, 20), a));
    EXPECT_TRUE(equal(slice(joined, 1, 20, 40), b));
  }
}

}  // namespace
}  // namespace boxcar
