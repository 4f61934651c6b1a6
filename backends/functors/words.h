#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// Elements that are moved unchanged, whatever their type: they are words of their size.

namespace boxcar::functors {

// The word of 16-byte elements, which may be aligned to only 8 bytes.
struct WordPair {
  uint64_t low, high;
};

// Returns body(std::type_identity<Word>()), where Word has [itemsize] bytes: 1, 2, 4, 8 or 16.
template <class Body>
constexpr decltype(auto) visitWord(size_t itemsize, Body&& body) {
  switch (itemsize) {
    case 1: return std::forward<Body>(body)(std::type_identity<uint8_t>());
    case 2: return std::forward<Body>(body)(std::type_identity<uint16_t>());
    case 4: return std::forward<Body>(body)(std::type_identity<uint32_t>());
    case 8: return std::forward<Body>(body)(std::type_identity<uint64_t>());
    default: return std::forward<Body>(body)(std::type_identity<WordPair>());
  }
}

}  // namespace boxcar::functors
