#include <boxcar/backends/cuda/kernels/offsets.h>
#include <boxcar/backends/cuda/reduce_launcher.h>
#include <boxcar/backends/cuda/strided_layout.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

// The arithmetic for launching kernels and finding elements.

namespace boxcar::cuda {
namespace {

using Sizes = std::vector<int64_t>;

TEST(Divider, DividesAsTheProcessorDoes) {
  for (const uint32_t divisor :
       {1U, 2U, 3U, 5U, 7U, 10U, 255U, 256U, 1000U, 65535U, 65537U, 0x7ffffffeU, 0x7fffffffU}) {
    const Divider divider(divisor);
    for (const uint32_t n : {0U, 1U, 2U, 6U, 7U, 255U, 999U, 1000U, 1001U, 65536U, 0x7ffffffeU, 0x7fffffffU}) {
      EXPECT_EQ(divider.divide(n), n / divisor) << n << " / " << divisor;
    }
  }
}

StridedLayout layoutOf(const Sizes& sizes, std::initializer_list<Sizes> strides) {
  StridedLayout layout(sizes);
  for (const Sizes& operand : strides) layout.add(sizes, operand, 4);
  layout.prepare();
  return layout;
}

TEST(StridedLayout, JoinsDimensionsThatFollowEachOtherInAllOperands) {
  EXPECT_EQ(layoutOf({2, 3, 4}, {{12, 4, 1}, {12, 4, 1}}).rank(), 1);
  EXPECT_EQ(layoutOf({2, 3, 4}, {{12, 4, 1}, {24, 8, 1}}).rank(), 2);
  EXPECT_EQ(layoutOf({2, 3}, {{3, 1}, {0, 1}}).rank(), 2);
}

TEST(StridedLayout, PutsDimensionsInTheOrderOfTheFirstOperandsMemory) {
  const StridedLayout layout = layoutOf({2, 3}, {{1, 2}, {3, 1}});
  ASSERT_EQ(layout.rank(), 2);
  EXPECT_EQ(layout.sizes()[0], 2);
  EXPECT_EQ(layout.stride(0, 0), 4);
  EXPECT_EQ(layout.stride(0, 1), 12);
}

TEST(StridedLayout, HasNoDimensionForOneElement) {
  const StridedLayout layout = layoutOf({1, 1}, {{1, 1}});
  EXPECT_EQ(layout.rank(), 0);
  EXPECT_EQ(layout.numel(), 1);
  int parts = 0;
  layout.forParts<1>([&](const Offsets<1>& offsets, int64_t n, std::span<const int64_t>) {
    ++parts;
    EXPECT_EQ(n, 1);
    int64_t at[1] = {-1};
    offsets.at(0, at);
    EXPECT_EQ(at[0], 0);
  });
  EXPECT_EQ(parts, 1);
}

TEST(StridedLayout, FindsEachElementOnceInAnyNumberOfDimensions) {
  // More dimensions than any kernel takes, none of which can be merged.
  Sizes sizes(16, 2);
  Sizes strides;
  for (int64_t step = 1; strides.size() < 16; step *= 3) strides.insert(strides.begin(), step);
  const StridedLayout layout = layoutOf(sizes, {strides});
  EXPECT_EQ(layout.rank(), 16);
  std::vector<int64_t> places;
  layout.forParts<1>([&](const Offsets<1>& offsets, int64_t n, std::span<const int64_t> starts) {
    for (int64_t i = 0; i < n; ++i) {
      int64_t at[1];
      offsets.at(static_cast<uint32_t>(i), at);
      places.push_back((starts[0] + at[0]) / 4);
    }
  });
  std::vector<int64_t> expected{0};
  for (auto step = strides.rbegin(); step != strides.rend(); ++step) {
    const size_t count = expected.size();
    for (size_t i = 0; i < count; ++i) expected.push_back(expected[i] + *step);
  }
  EXPECT_EQ(places, expected);
}

TEST(StridedLayout, CutsWhatHasMoreElementsThanAKernelCounts) {
  const int64_t many = int64_t{5} << 30;
  const StridedLayout layout = layoutOf({many}, {{1}});
  int64_t seen = 0;
  layout.forParts<1>([&](const Offsets<1>&, int64_t n, std::span<const int64_t> starts) {
    EXPECT_EQ(starts[0], seen * 4);
    EXPECT_LE(n, INT32_MAX);
    seen += n;
  });
  EXPECT_EQ(seen, many);
}

TEST(ReduceShape, SharesFewResultsBetweenManyBlocks) {
  const ReduceShape one = ReduceShape::choose(1, int64_t{1} << 24, false, 132);
  EXPECT_FALSE(one.columns);
  EXPECT_EQ(one.parts, 4 * 132);
  EXPECT_EQ(one.blocks(1), 4 * 132);
}

TEST(ReduceShape, GivesEachOfManyResultsABlockOfItsOwn) {
  const ReduceShape many = ReduceShape::choose(8192, 8192, false, 132);
  EXPECT_EQ(many.parts, 1);
  EXPECT_EQ(many.blocks(8192), 8192);
}

TEST(ReduceShape, GoesAlongResultsThatLieSideBySide) {
  const ReduceShape columns = ReduceShape::choose(1000, 1000, true, 132);
  EXPECT_TRUE(columns.columns);
  EXPECT_EQ(columns.blocks(1000) % 32, 0);
}

TEST(ReduceShape, HasOneBlockForNoElement) { EXPECT_EQ(ReduceShape::choose(1, 0, false, 132).blocks(1), 1); }

}  // namespace
}  // namespace boxcar::cuda
