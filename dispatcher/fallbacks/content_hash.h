#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// 128 bits by which contents are told apart: equal contents have equal ones, on every machine, and other contents have
// others but by a chance that nobody meets. No defence against people who look for two contents of one hash.
struct ContentHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const ContentHash&) const noexcept = default;
};

// Contents of different [kind]s have different hashes.
BOXCAR_API ContentHash hashOfBytes(std::span<const std::byte> bytes, uint64_t kind = 0) noexcept;

}  // namespace boxcar
