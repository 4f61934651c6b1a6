#include <boxcar/dispatcher/handlers/record/packed_bytes.h>
#include <boxcar/ivalue/error.h>

#include <bit>

namespace boxcar {

void PackedWriter::number(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
  bytes_.push_back(static_cast<std::byte>(value));
}

void PackedWriter::signedNumber(int64_t value) {
  number((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

void PackedWriter::real(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::byte>(bits >> shift));
}

void PackedWriter::text(std::string_view text) {
  number(text.size());
  const auto bytes = std::as_bytes(std::span(text));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::byte PackedReader::next() {
  BOXCAR_CHECK(!rest_.empty(), "it ends too soon");
  const std::byte byte = rest_.front();
  rest_ = rest_.subspan(1);
  return byte;
}

uint64_t PackedReader::number(uint64_t most) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<uint64_t>(next());
    BOXCAR_CHECK(shift < 63 || byte <= 1, "a number has more than 64 bits");
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  BOXCAR_CHECK(value <= most, "there is the number {} where at most {} is possible", value, most);
  return value;
}

int64_t PackedReader::signedNumber() {
  const uint64_t folded = number();
  return static_cast<int64_t>((folded >> 1) ^ (~(folded & 1) + 1));
}

double PackedReader::real() {
  uint64_t bits = 0;
  for (int shift = 0; shift < 64; shift += 8) bits |= std::to_integer<uint64_t>(next()) << shift;
  return std::bit_cast<double>(bits);
}

size_t PackedReader::count() {
  const uint64_t count = number();
  BOXCAR_CHECK(count <= rest_.size(), "it ends too soon");
  return count;
}

std::string PackedReader::text() {
  const size_t size = count();
  const auto* const characters = reinterpret_cast<const char*>(rest_.data());
  rest_ = rest_.subspan(size);
  return {characters, size};
}

void PackedReader::finish() const { BOXCAR_CHECK(rest_.empty(), "{} bytes follow its end", rest_.size()); }

}  // namespace boxcar
