#pragma once

// Repairs zip archives, for mutators.

#include "tests/fuzz/mutator.h"

namespace boxcar::fuzz {

inline uint32_t checksumOf(const uint8_t* bytes, size_t size) {
  uint32_t sum = ~0u;
  for (size_t i = 0; i < size; ++i) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum % 2 == 0 ? 0 : 0xedb88320u);
  }
  return ~sum;
}

inline bool begins(const uint8_t* data, size_t size, size_t at, const char* with, size_t length) {
  return at + length <= size && std::memcmp(data + at, with, length) == 0;
}

// Calls [mend] with the bytes of each stored member and then repairs its checksum, which is in front of it and in the
// directory at the end.
template <class Mend>
void mendArchive(uint8_t* data, size_t size, Mend mend) {
  constexpr size_t kEntry = 46;
  constexpr size_t kHead = 30;
  for (size_t at = 0; at + kEntry <= size; ++at) {
    if (!begins(data, size, at, "PK\x01\x02", 4)) continue;
    const auto head = readNumber<uint32_t>(data + at + 42);
    const bool stored = readNumber<uint16_t>(data + at + 10) == 0;
    if (!stored || head + size_t{kHead} > size || !begins(data, size, head, "PK\x03\x04", 4)) continue;
    const size_t begin = head + kHead + readNumber<uint16_t>(data + head + 26) + readNumber<uint16_t>(data + head + 28);
    const auto bytes = readNumber<uint32_t>(data + at + 20);
    if (begin + bytes > size) continue;
    mend(data + begin, bytes);
    const uint32_t sum = checksumOf(data + begin, bytes);
    writeNumber(data + at + 16, sum);
    writeNumber(data + head + 14, sum);
  }
}

}  // namespace boxcar::fuzz
