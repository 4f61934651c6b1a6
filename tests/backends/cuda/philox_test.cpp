#include <boxcar/backends/functors/philox.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace boxcar::functors {
namespace {

using Words = std::array<uint32_t, 4>;

Words block(const Words& counter, uint32_t key_low, uint32_t key_high) {
  const PhiloxBlock made = philox({{counter[0], counter[1], counter[2], counter[3]}}, key_low, key_high);
  return {made.words[0], made.words[1], made.words[2], made.words[3]};
}

// The known answers published by the authors of Philox.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(block({0, 0, 0, 0}, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kAll = 0xffffffff;
  EXPECT_EQ(block({kAll, kAll, kAll, kAll}, kAll, kAll), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, CountsBlocksWithTheLowerHalfAndTakesTheSeedForItsKey) {
  const PhiloxBlock made = philoxBlock(uint64_t{7} << 32 | 5, uint64_t{3} << 32 | 2);
  const PhiloxBlock expected = philox({{2, 3, 0, 0}}, 5, 7);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(made.words[k], expected.words[k]);
}

}  // namespace
}  // namespace boxcar::functors
