#include <boxcar/dispatcher/values/content_hash.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace boxcar {
namespace {

TEST(ContentHash, IsTheSameOnEveryMachine) {
  const std::vector<std::byte> bytes(100, std::byte{7});
  EXPECT_EQ(hashOfBytes(bytes), hashOfBytes(std::vector<std::byte>(100, std::byte{7})));
  EXPECT_EQ(hashOfBytes({}).low, 0x7b8eb4c887eb9070U);
}

TEST(ContentHash, TellsLengthsKindsAndSingleBitsApart) {
  std::set<uint64_t> lows;
  std::set<uint64_t> highs;
  size_t hashed = 0;
  const auto add = [&](const std::vector<std::byte>& bytes, uint64_t kind = 0) {
    const ContentHash hash = hashOfBytes(bytes, kind);
    lows.insert(hash.low);
    highs.insert(hash.high);
    ++hashed;
  };
  for (size_t length = 0; length < 100; ++length) add(std::vector<std::byte>(length));
  for (uint64_t kind = 1; kind < 100; ++kind) add(std::vector<std::byte>(40), kind);
  std::vector<std::byte> bytes(70);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    add(bytes);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(lows.size(), hashed);
  EXPECT_EQ(highs.size(), hashed);
}

}  // namespace
}  // namespace boxcar
