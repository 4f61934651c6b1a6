// Repairs the header length of a .npy file and, in an archive, the checksums of its stored (uncompressed) members.

#include "tests/fuzz/mutator.h"

namespace boxcar::fuzz {
namespace {

uint32_t checksumOf(const uint8_t* bytes, size_t size) {
  uint32_t sum = ~0u;
  for (size_t i = 0; i < size; ++i) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum % 2 == 0 ? 0 : 0xedb88320u);
  }
  return ~sum;
}

bool begins(const uint8_t* data, size_t size, size_t at, const char* with, size_t length) {
  return at + length <= size && std::memcmp(data + at, with, length) == 0;
}

// The header ends with the first line.
void mendArray(uint8_t* data, size_t size) {
  if (size < 12 || !begins(data, size, 0, "\x93NUMPY", 6)) return;
  const size_t begin = data[6] == 1 ? 10 : 12;
  const auto* const end = std::find(data + begin, data + size, '\n');
  if (end == data + size) return;
  const auto length = static_cast<size_t>(end + 1 - (data + begin));
  if (data[6] == 1) {
    writeNumber(data + 8, static_cast<uint16_t>(length));
  } else {
    writeNumber(data + 8, static_cast<uint32_t>(length));
  }
}

// A member's checksum and sizes are in front of it and in the directory at the end.
void mendArchive(uint8_t* data, size_t size) {
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
    mendArray(data + begin, bytes);
    const uint32_t sum = checksumOf(data + begin, bytes);
    writeNumber(data + at + 16, sum);
    writeNumber(data + head + 14, sum);
  }
}

}  // namespace
}  // namespace boxcar::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  using namespace boxcar::fuzz;
  size = LLVMFuzzerMutate(data, size, most);
  if (isMended(seed)) {
    mendArray(data, size);
    mendArchive(data, size);
  }
  return size;
}
