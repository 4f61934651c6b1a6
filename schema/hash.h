#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace boxcar::detail {

// FNV-1a over 64 bits: unlike std::hash, it is the same with every standard library.
class StableHash {
 public:
  void add(std::string_view text) noexcept {
    for (const char c : text) addByte(static_cast<unsigned char>(c));
    addByte(0xff);  // never occurs in UTF-8: keeps ("ab", "c") apart from ("a", "bc")
  }
  void add(std::uint64_t number) noexcept {
    for (int i = 0; i < 8; ++i) addByte(static_cast<unsigned char>(number >> (8 * i)));
  }
  std::size_t value() const noexcept { return state_; }

 private:
  void addByte(unsigned char byte) noexcept { state_ = (state_ ^ byte) * 0x100000001b3; }

  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace boxcar::detail
