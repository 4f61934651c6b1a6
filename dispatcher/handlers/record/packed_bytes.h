#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace boxcar {

// Writes numbers and strings as bytes. A number uses seven bits per byte, least significant first, so small numbers are
// short. Signed numbers are zigzag-encoded: -1 as 1, 1 as 2. A string is its length and its bytes.
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

// Reads them back. Each function throws Error if the bytes end too soon or hold something else.
class PackedReader final {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  // Throws Error if the number is greater than [most].
  uint64_t number(uint64_t most = UINT64_MAX);
  uint32_t number32() { return static_cast<uint32_t>(number(UINT32_MAX)); }
  int64_t signedNumber();
  double real();
  bool flag() { return number(1) != 0; }
  std::string text();
  // Reads the number of items that follow; each takes at least one byte.
  size_t count();
  // Throws Error if bytes are left.
  void finish() const;

 private:
  std::byte next();

  std::span<const std::byte> rest_;
};

}  // namespace boxcar
