#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Numbers and texts as bytes. A number takes seven bits a byte, least first, so that small ones are short; a negative
// one is folded to an odd one, -1 to 1 and 1 to 2. A text is its length and its bytes.
class PackedWriter final {
 public:
  void number(uint64_t value);
  void signedNumber(int64_t value);
  void real(double value);
  void text(std::string_view text);

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads them back. Each throws an Error where the bytes end too soon or hold something else.
class PackedReader final {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  // At most [most].
  uint64_t number(uint64_t most = UINT64_MAX);
  uint32_t number32() { return static_cast<uint32_t>(number(UINT32_MAX)); }
  int64_t signedNumber();
  double real();
  bool flag() { return number(1) != 0; }
  std::string text();
  // Of things that take a byte or more each, which are still to come.
  size_t count();
  // An Error where something is left.
  void finish() const;

 private:
  std::byte next();

  std::span<const std::byte> rest_;
};

}  // namespace boxcar
