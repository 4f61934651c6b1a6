#pragma once

// Shared by the mutators. libFuzzer changes an input, and then they repair parts that any reader checks first, such as
// a checksum. One time in eight these stay wrong.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace boxcar::fuzz {

using Bytes = std::vector<uint8_t>;

// Returns whether to repair a mutation.
inline bool isMended(unsigned seed) { return seed % 8 != 0; }

// Returns [bytes] after a mutation, at most [most] of them.
inline Bytes mutated(Bytes bytes, size_t most) {
  const size_t size = std::min(bytes.size(), most);
  bytes.resize(std::max<size_t>(most, 1));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, most));
  return bytes;
}

// Replaces the input by [bytes], cut to [most] bytes. Returns the new size.
inline size_t store(const Bytes& bytes, uint8_t* data, size_t most) {
  const size_t size = std::min(bytes.size(), most);
  std::copy_n(bytes.data(), size, data);
  return size;
}

// Numbers are little endian.
template <class T>
T readNumber(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}
template <class T>
void writeNumber(uint8_t* bytes, T value) {
  std::memcpy(bytes, &value, sizeof(T));
}

}  // namespace boxcar::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed);
