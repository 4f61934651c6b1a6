#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace boxcar {

// A 128-bit hash. Equal contents have equal hashes on every machine; different contents have different hashes except
// with negligible probability. It does not resist deliberate collisions.
struct ContentHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const ContentHash&) const noexcept = default;
};

// Contents of different [kind]s have different hashes.
BOXCAR_API ContentHash hashOfBytes(std::span<const std::byte> bytes, uint64_t kind = 0) noexcept;

}  // namespace boxcar
