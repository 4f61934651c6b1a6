#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/ivalue/error.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/cuda/simulated_device.h"

namespace boxcar::cuda {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

class CachingAllocatorTest : public ::testing::Test {
 protected:
  void SetUp() override { simulated::device() = {}; }
  void TearDown() override { allocator.releaseCache(); }

  CachingAllocator allocator{0};
  int other_stream = 0;
};

TEST_F(CachingAllocatorTest, GivesAFreedBlockAgainWithoutAskingTheDevice) {
  void* const first = allocator.allocate(1000, nullptr);
  allocator.deallocate(first, {});
  void* const second = allocator.allocate(1000, nullptr);
  EXPECT_EQ(first, second);
  EXPECT_EQ(simulated::device().allocations, 1);
  allocator.deallocate(second, {});
}

TEST_F(CachingAllocatorTest, GivesNothingForNoBytes) {
  EXPECT_EQ(allocator.allocate(0, nullptr), nullptr);
  allocator.deallocate(nullptr, {});
  EXPECT_EQ(simulated::device().allocations, 0);
}

TEST_F(CachingAllocatorTest, CutsSmallBlocksFromOneSegment) {
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(static_cast<char*>(allocator.allocate(100, nullptr)));
  for (size_t i = 1; i < blocks.size(); ++i) EXPECT_EQ(blocks[i] - blocks[i - 1], 512);
  EXPECT_EQ(simulated::device().allocations, 1);
  EXPECT_EQ(allocator.statistics().used, 8U * 512);
  EXPECT_EQ(allocator.statistics().reserved, 2 * kMebibyte);
  for (char* block : blocks) allocator.deallocate(block, {});
}

TEST_F(CachingAllocatorTest, JoinsFreeNeighboursToOneBlock) {
  void* const a = allocator.allocate(kMebibyte / 2, nullptr);
  void* const b = allocator.allocate(kMebibyte / 2, nullptr);
  void* const c = allocator.allocate(kMebibyte, nullptr);
  allocator.deallocate(a, {});
  allocator.deallocate(c, {});
  allocator.deallocate(b, {});
  allocator.releaseCache();  // only possible if the segment is one free block
  EXPECT_EQ(simulated::device().frees, 1);
  EXPECT_EQ(allocator.statistics().reserved, 0U);
}

TEST_F(CachingAllocatorTest, KeepsTheBlocksOfStreamsApart) {
  void* const first = allocator.allocate(1000, nullptr);
  allocator.deallocate(first, {});
  void* const second = allocator.allocate(1000, &other_stream);
  EXPECT_NE(first, second);
  EXPECT_EQ(simulated::device().allocations, 2);
  allocator.deallocate(second, {});
}

TEST_F(CachingAllocatorTest, KeepsASegmentForEachLargeBlock) {
  void* const large = allocator.allocate(21 * kMebibyte, nullptr);
  EXPECT_EQ(allocator.statistics().reserved, 22 * kMebibyte);
  allocator.deallocate(large, {});
}

TEST_F(CachingAllocatorTest, CountsWhatIsUsedAndTheMostThatWas) {
  void* const a = allocator.allocate(1000, nullptr);
  void* const b = allocator.allocate(2000, nullptr);
  allocator.deallocate(b, {});
  EXPECT_EQ(allocator.statistics().used, 1024U);
  EXPECT_EQ(allocator.statistics().peak, 1024U + 2048U);
  EXPECT_EQ(allocator.statistics().allocations, 2U);
  allocator.resetPeak();
  EXPECT_EQ(allocator.statistics().peak, 1024U);
  allocator.deallocate(a, {});
}

TEST_F(CachingAllocatorTest, GivesTheCacheBackAndAsksAgainWhenTheDeviceIsFull) {
  simulated::device().capacity = simulated::allocatedBytes(0) + 64 * kMebibyte;
  allocator.deallocate(allocator.allocate(40 * kMebibyte, nullptr), {});
  void* const other = allocator.allocate(40 * kMebibyte, &other_stream);
  EXPECT_NE(other, nullptr);
  EXPECT_EQ(allocator.statistics().retries, 1U);
  EXPECT_EQ(simulated::device().frees, 1);
  allocator.deallocate(other, {});
}

TEST_F(CachingAllocatorTest, SaysInNumbersThatThereIsNoMemory) {
  const size_t before = simulated::allocatedBytes(0);
  simulated::device().capacity = before + 64 * kMebibyte;
  void* const held = allocator.allocate(30 * kMebibyte, nullptr);
  try {
    allocator.allocate(50 * kMebibyte, nullptr);
    FAIL() << "there is room for that";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("cuda:0 is out of memory: 50.0 MiB were asked for"), std::string::npos) << text;
    EXPECT_NE(
        text.find("34.0 MiB are free. Tensors of this program hold 30.0 MiB, its cache 0.0 KiB. Keep fewer tensors, or "
                  "smaller ones, at a time"),
        std::string::npos)
        << text;
  }
  allocator.deallocate(held, {});
}

TEST_F(CachingAllocatorTest, KeepsAGraphsMemoryUntilTheGraphIsReleased) {
  allocator.setGraph(7, nullptr);
  void* const captured = allocator.allocate(1000, nullptr);
  allocator.deallocate(captured, {});
  allocator.setGraph(0, nullptr);
  void* const outside = allocator.allocate(1000, nullptr);
  EXPECT_NE(captured, outside);
  allocator.releaseCache();
  EXPECT_EQ(simulated::device().frees, 0);  // a replay writes to this memory
  allocator.releaseGraph(7);
  EXPECT_EQ(simulated::device().frees, 1);
  allocator.deallocate(outside, {});
}

TEST_F(CachingAllocatorTest, FreesWhatIsHeldOfAReleasedGraphWhenItIsGivenBack) {
  allocator.setGraph(8, nullptr);
  void* const result = allocator.allocate(1000, nullptr);
  allocator.setGraph(0, nullptr);
  allocator.releaseGraph(8);
  EXPECT_EQ(simulated::device().frees, 0);
  allocator.deallocate(result, {});
  EXPECT_EQ(simulated::device().frees, 1);
}

}  // namespace
}  // namespace boxcar::cuda
