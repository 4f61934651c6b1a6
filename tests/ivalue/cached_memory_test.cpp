#include <boxcar/ivalue/allocator.h>
#include <boxcar/ivalue/cached_memory.h>
#include <gtest/gtest.h>

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
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (2 * kMebibyte), 0u) << bytes;
    EXPECT_TRUE(hugePagesAreWanted(memory + kMebibyte)) << bytes;
    std::memset(memory, 0x5a, bytes);
    freeCached(memory, bytes);
  }
}

TEST(CachedMemory, AFreedLargeBlockIsUsedAgainForItsSize) {
  if (!kKeepsBlocks) GTEST_SKIP() << "no block is kept under AddressSanitizer";
  void* first = allocateCached(5 * kMebibyte);
  void* second = allocateCached(5 * kMebibyte);
  EXPECT_NE(first, second);
  freeCached(first, 5 * kMebibyte);
  freeCached(second, 5 * kMebibyte);
  void* third = allocateCached(5 * kMebibyte + 1);
  EXPECT_EQ(third, second);
  void* other_size = allocateCached(7 * kMebibyte);
  EXPECT_NE(other_size, first);
  freeCached(third, 5 * kMebibyte + 1);
  freeCached(other_size, 7 * kMebibyte);
}

// Allocates more blocks than are kept, so that some go back to the system: each keeps what was written to it until it
// is freed.
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
