#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cached_memory.h>
#include <boxcar/ivalue/kept_regions.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/test_support.h"

namespace boxcar {
namespace {

constexpr bool kKeepsBlocks = BOXCAR_KEEPS_FREED_BLOCKS != 0;

TEST(CachedMemory, BlocksAreAlignedAndHoldWhatWasAskedFor) {
  for (size_t bytes : {0, 1, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 100000}) {
    void* memory = allocateCached(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u) << bytes;
    std::memset(memory, 0x5a, bytes);
    freeCached(memory, bytes);
  }
}

TEST(CachedMemory, BlocksOfTensorsAreUsedAgain) {
  if (!kKeepsBlocks) GTEST_SKIP() << "AddressSanitizer has all memory";
  for (size_t bytes : {8193, 10240, 10241, 100000, 1000000, (4 << 20) - 1}) {
    void* memory = allocateCached(bytes);
    std::memset(memory, 0x5a, bytes);
    freeCached(memory, bytes);
    void* again = allocateCached(bytes);
    EXPECT_EQ(again, memory) << bytes;
    void* other = allocateCached(bytes);
    EXPECT_NE(other, memory) << bytes;
    freeCached(other, bytes);
    freeCached(again, bytes);
  }
}

// Returns whether huge pages were requested for the mapping that contains [address], according to /proc.
bool hugePagesAreWanted(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = reinterpret_cast<uintptr_t>(address) >= begin && reinterpret_cast<uintptr_t>(address) < end;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(CachedMemory, HugePagesAreAskedForLargeBlocks) {
  if (!kKeepsBlocks) GTEST_SKIP() << "AddressSanitizer has all memory";
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "this kernel has no huge pages";
  for (size_t bytes : {4 * kMebibyte, 5 * kMebibyte + 1, 100 * kMebibyte}) {
    auto* memory = static_cast<char*>(allocateCached(bytes));
    EXPECT_TRUE(hugePagesAreWanted(memory)) << bytes;
    EXPECT_TRUE(hugePagesAreWanted(memory + bytes - 1)) << bytes;
    std::memset(memory, 0x5a, bytes);
    freeCached(memory, bytes);
  }
}

TEST(KeptRegions, AFreedBlockIsUsedAgain) {
  KeptRegions regions;
  void* first = regions.allocate(4 * kMebibyte);
  void* second = regions.allocate(4 * kMebibyte);
  EXPECT_NE(first, second);
  regions.free(first, 4 * kMebibyte);
  EXPECT_EQ(regions.allocate(4 * kMebibyte), first);
  regions.free(first, 4 * kMebibyte);
  regions.free(second, 4 * kMebibyte);
}

TEST(KeptRegions, BlocksOfOtherSizesShareTheMemoryOfAFreedOne) {
  KeptRegions regions;
  auto* const large = static_cast<char*>(regions.allocate(8 * kMebibyte));
  regions.free(large, 8 * kMebibyte);
  auto* const first = static_cast<char*>(regions.allocate(3 * kMebibyte));
  auto* const second = static_cast<char*>(regions.allocate(3 * kMebibyte - 5));
  EXPECT_EQ(first, large);
  EXPECT_EQ(second, first + 3 * kMebibyte);
  regions.free(first, 3 * kMebibyte);
  regions.free(second, 3 * kMebibyte - 5);
  // The pieces have joined.
  EXPECT_EQ(regions.allocate(8 * kMebibyte), large);
  regions.free(large, 8 * kMebibyte);
}

TEST(KeptRegions, ABlockTakesTheSmallestPieceThatHasRoom) {
  KeptRegions regions;
  regions.free(regions.allocate(32 * kMebibyte), 32 * kMebibyte);
  void* const large = regions.allocate(16 * kMebibyte);
  void* const between = regions.allocate(2 * kMebibyte);
  void* const small = regions.allocate(2 * kMebibyte);
  void* const behind = regions.allocate(2 * kMebibyte);
  regions.free(large, 16 * kMebibyte);
  regions.free(small, 2 * kMebibyte);
  EXPECT_EQ(regions.allocate(2 * kMebibyte), small);
  EXPECT_EQ(regions.allocate(5 * kMebibyte), static_cast<char*>(behind) + 2 * kMebibyte);
  EXPECT_EQ(regions.allocate(14 * kMebibyte), large);
  EXPECT_NE(between, nullptr);
}

// Whether the process has a mapping at [address].
bool isMapped(const void* address) {
  unsigned char resident = 0;
  return mincore(const_cast<void*>(address), 4096, &resident) == 0;
}

TEST(KeptRegions, WhatWasInUseAtOnceIsKept) {
  KeptRegions regions;
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(regions.allocate(20 * kMebibyte));
  for (void* block : blocks) regions.free(block, 20 * kMebibyte);
  for (void* block : blocks) EXPECT_TRUE(isMapped(block));
}

TEST(KeptRegions, MoreThanWasInUseAtOnceIsGivenBack) {
  KeptRegions regions;
  // One after the other, each larger than the pieces that are kept.
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t size = 20; size <= 100; size += 20) {
    blocks.emplace_back(regions.allocate(size * kMebibyte), size * kMebibyte);
    regions.free(blocks.back().first, blocks.back().second);
  }
  size_t mapped = 0;
  std::set<uintptr_t> pages;
  for (const auto& [block, bytes] : blocks) {
    for (size_t at = 0; at < bytes; at += 2 * kMebibyte) {
      const auto* const page = static_cast<const char*>(block) + at;
      if (isMapped(page) && pages.insert(reinterpret_cast<uintptr_t>(page)).second) mapped += 2 * kMebibyte;
    }
  }
  EXPECT_LE(mapped, 104 * kMebibyte);
}

TEST(KeptRegions, AllButAQuarterOfAGibibyteIsGivenBack) {
  KeptRegions regions;
  auto* const block = static_cast<char*>(regions.allocate(1024 * kMebibyte));
  regions.free(block, 1024 * kMebibyte);
  size_t mapped = 0;
  for (size_t at = 0; at < 1024 * kMebibyte; at += 2 * kMebibyte) mapped += isMapped(block + at) ? 2 : 0;
  EXPECT_LE(mapped, 256u);
  EXPECT_GE(mapped, 254u);
}

// Each block keeps what was written to it until it is freed.
TEST(CachedMemory, ManyLargeBlocksAreDistinct) {
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (size_t i = 0; i < 24; ++i) {
    const size_t bytes = (4 + i % 5) * kMebibyte;
    auto* memory = static_cast<unsigned char*>(allocateCached(bytes));
    memory[0] = memory[bytes - 1] = static_cast<unsigned char>(i);
    blocks.emplace_back(memory, bytes);
    if (i % 3 != 2) continue;
    freeCached(blocks.front().first, blocks.front().second);
    blocks.erase(blocks.begin());
  }
  std::set<unsigned char> seen;
  for (const auto& [memory, bytes] : blocks) {
    EXPECT_EQ(memory[0], memory[bytes - 1]);
    seen.insert(memory[0]);
    freeCached(memory, bytes);
  }
  EXPECT_EQ(seen.size(), blocks.size());
}

TEST(CachedMemory, AFreedBlockIsUsedAgainForItsClass) {
  if (!kKeepsBlocks) GTEST_SKIP() << "no block is kept under AddressSanitizer";
  void* first = allocateCached(100);
  freeCached(first, 100);
  void* second = allocateCached(128);
  EXPECT_EQ(second, first);
  void* other_class = allocateCached(129);
  EXPECT_NE(other_class, first);
  freeCached(second, 128);
  freeCached(other_class, 129);
}

TEST(CachedMemory, LiveBlocksAreDistinct) {
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocateCached(64));
  for (size_t i = 0; i < blocks.size(); ++i) std::memset(blocks[i], static_cast<int>(i), 64);
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(*static_cast<uint8_t*>(blocks[i]), static_cast<uint8_t>(i));
    freeCached(blocks[i], 64);
  }
}

TEST(CachedMemory, AnyThreadFrees) {
  void* memory = allocateCached(64);
  std::thread([memory] {
    freeCached(memory, 64);
    freeCached(allocateCached(64), 64);
  }).join();
}

TEST(CachedMemory, SaysWhenThereIsNoMemory) {
  const size_t too_much = std::numeric_limits<size_t>::max() - 10;
  EXPECT_EQ(errorOf([=] { allocateCached(too_much); }), "out of memory: could not allocate 18446744073709551605 bytes");
}

TEST(Allocator, OfADeviceWithoutBackendIsAnError) {
  EXPECT_EQ(errorOf([] { allocatorFor(DeviceType::XLA); }),
            "no memory can be allocated on device 'xla': no backend for it is loaded; use device 'cpu'");
}

}  // namespace
}  // namespace boxcar
