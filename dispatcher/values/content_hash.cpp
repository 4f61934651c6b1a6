#include <boxcar/dispatcher/values/content_hash.h>

#include <array>
#include <bit>
#include <cstring>

namespace boxcar {
namespace {

constexpr size_t kBlockBytes = 32;
// Multipliers with well-spread bits.
constexpr uint64_t kFactor = 0x9e6c63d0876a9a47;
constexpr uint64_t kSecondFactor = 0xd1b54a32d192ed03;

using Lanes = std::array<uint64_t, kBlockBytes / sizeof(uint64_t)>;

// Four independent lanes. Each step is a bijection of the lane's state, so that a change of one word is never lost in
// its lane. Words are multiplied on both sides of the rotation, so that a word of the next block does not undo it.
void mixIn(Lanes& lanes, const std::byte* block) noexcept {
  for (size_t i = 0; i < lanes.size(); ++i) {
    uint64_t word;
    std::memcpy(&word, block + i * sizeof(word), sizeof(word));
    lanes[i] = std::rotl(lanes[i] + word * kFactor, 31) * kSecondFactor;
  }
}

uint64_t spread(uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 32)) * kFactor;
  bits = (bits ^ (bits >> 29)) * kFactor;
  return bits ^ (bits >> 32);
}

}  // namespace

ContentHash hashOfBytes(std::span<const std::byte> bytes, uint64_t kind) noexcept {
  Lanes lanes;
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i] = spread(kind * lanes.size() + i + 1);
  size_t done = 0;
  for (; done + kBlockBytes <= bytes.size(); done += kBlockBytes) mixIn(lanes, bytes.data() + done);
  std::array<std::byte, kBlockBytes> rest{};
  if (done < bytes.size()) std::memcpy(rest.data(), bytes.data() + done, bytes.size() - done);
  mixIn(lanes, rest.data());
  ContentHash hash{bytes.size(), ~bytes.size()};
  for (const uint64_t lane : lanes) {
    hash.low = spread(hash.low ^ lane);
    hash.high = spread(hash.high + std::rotl(lane, 32));
  }
  return hash;
}

}  // namespace boxcar
