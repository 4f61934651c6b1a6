#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

namespace boxcar::functors {

// Four 32-bit random numbers.
struct PhiloxBlock {
  uint32_t words[4];
};

// Philox4x32-10: returns block number [counter] of the sequence of the key, each given in words, least significant
// first. Any block can be computed without its predecessors, so threads draw independently. J. Salmon, M. Moraes, R.
// Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
BOXCAR_HOST_DEVICE constexpr PhiloxBlock philox(PhiloxBlock counter, uint32_t key_low, uint32_t key_high) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter.words[0];
    const uint64_t second = uint64_t{0xCD9E8D57} * counter.words[2];
    counter = {{static_cast<uint32_t>(second >> 32) ^ counter.words[1] ^ key_low, static_cast<uint32_t>(second),
                static_cast<uint32_t>(first >> 32) ^ counter.words[3] ^ key_high, static_cast<uint32_t>(first)}};
    // The fraction of the golden ratio, and that of the square root of 3.
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return counter;
}

// Returns block [number] of the sequence of [seed].
BOXCAR_HOST_DEVICE constexpr PhiloxBlock philoxBlock(uint64_t seed, uint64_t number) {
  return philox({{static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0}},
                static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

}  // namespace boxcar::functors
