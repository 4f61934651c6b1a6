#include <boxcar/ivalue/dims.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace boxcar {
namespace {

using Row = std::vector<int64_t>;

// Returns [rank] numbers from [first] on.
Row numbers(size_t rank, int64_t first) {
  Row row(rank);
  std::iota(row.begin(), row.end(), first);
  return row;
}

Row sizesOf(const Dims& dims) { return {dims.sizes().begin(), dims.sizes().end()}; }
Row stridesOf(const Dims& dims) { return {dims.strides().begin(), dims.strides().end()}; }

// Covers dimensions inside the object and on the heap.
constexpr size_t kMostDims = Dims::kInline + 3;

TEST(Dims, HoldWhatTheyAreAssignedWhateverTheyHeld) {
  for (size_t before = 0; before <= kMostDims; ++before) {
    for (size_t rank = 0; rank <= kMostDims; ++rank) {
      Dims dims;
      dims.assign(numbers(before, 100), numbers(before, 200));
      dims.assign(numbers(rank, 10), numbers(rank, 50));
      EXPECT_EQ(dims.rank(), rank);
      EXPECT_EQ(sizesOf(dims), numbers(rank, 10)) << rank << " after " << before;
      EXPECT_EQ(stridesOf(dims), numbers(rank, 50)) << rank << " after " << before;
    }
  }
}

TEST(Dims, AreAssignedAllDimensionsButOne) {
  for (size_t rank = 1; rank <= kMostDims; ++rank) {
    for (size_t dropped = 0; dropped < rank; ++dropped) {
      Dims dims;
      dims.assignWithout(dropped, numbers(rank, 10), numbers(rank, 50));
      Row sizes = numbers(rank, 10);
      Row strides = numbers(rank, 50);
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(dropped));
      strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(dropped));
      EXPECT_EQ(sizesOf(dims), sizes) << dropped << " of " << rank;
      EXPECT_EQ(stridesOf(dims), strides) << dropped << " of " << rank;
    }
  }
}

TEST(Dims, AreAssignedARowOfTheirOwn) {
  for (size_t rank = 1; rank <= kMostDims; ++rank) {
    Dims dims;
    dims.assign(numbers(rank, 10), numbers(rank, 50));
    dims.assign(dims.sizes().first(rank - 1), dims.strides().first(rank - 1));
    EXPECT_EQ(sizesOf(dims), numbers(rank - 1, 10));
    EXPECT_EQ(stridesOf(dims), numbers(rank - 1, 50));
  }
}

}  // namespace
}  // namespace boxcar
