#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace boxcar::cuda {

// Two words, for 16-byte elements, which may be aligned to only 8 bytes.
struct WordPair {
  uint64_t low, high;
};

// Calls body(std::type_identity<Word>) with a type of [itemsize] bytes, for elements that are moved unchanged.
template <class Body>
void visitWord(size_t itemsize, const Body& body) {
  switch (itemsize) {
    case 1: return body(std::type_identity<uint8_t>{});
    case 2: return body(std::type_identity<uint16_t>{});
    case 4: return body(std::type_identity<uint32_t>{});
    case 8: return body(std::type_identity<uint64_t>{});
    default: return body(std::type_identity<WordPair>{});
  }
}

}  // namespace boxcar::cuda
