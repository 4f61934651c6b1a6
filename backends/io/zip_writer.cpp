#include <boxcar/backends/io/zip_writer.h>
#include <boxcar/ivalue/error.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace boxcar::io {
namespace {

constexpr uint64_t kMost32 = std::numeric_limits<uint32_t>::max();
constexpr uint16_t kVersionNeeded = 45;  // of the 64-bit form
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr size_t kLocalHeader = 30;    // bytes before a member's name
constexpr uint16_t kPadding = 0x4246;  // the extra field in which PyTorch puts it, "FB"
// 1980-01-01, the first day that the format knows: the same tensors give the same file.
constexpr uint32_t kDate = 1 << 21 | 1 << 16;

// The values little-endian, one after the other.
template <class... Numbers>
std::string packed(Numbers... numbers) {
  std::string bytes;
  const auto append = [&bytes](auto number) {
    const auto value = static_cast<std::make_unsigned_t<decltype(number)>>(number);
    for (size_t i = 0; i < sizeof(value); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  (append(numbers), ...);
  return bytes;
}

uint32_t checksumOf(std::initializer_list<std::span<const std::byte>> parts) {
  // zlib takes at most 32 bits of bytes at a time.
  constexpr size_t kPiece = size_t{1} << 30;
  uLong checksum = crc32(0, nullptr, 0);
  for (std::span<const std::byte> part : parts) {
    while (!part.empty()) {
      const size_t size = std::min(part.size(), kPiece);
      checksum = crc32(checksum, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(size));
      part = part.subspan(size);
    }
  }
  return static_cast<uint32_t>(checksum);
}

// Returns an extra field that moves what begins at [position] to a multiple of [alignment].
std::string padding(uint64_t position, size_t alignment) {
  constexpr size_t kHeader = 4;
  if (position % alignment == 0) return {};
  const size_t size = (alignment - (position + kHeader) % alignment) % alignment;
  return packed(kPadding, static_cast<uint16_t>(size)) + std::string(size, '\0');
}

uint32_t narrow(uint64_t value) { return static_cast<uint32_t>(std::min(value, kMost32)); }

}  // namespace

void ZipWriter::write(const std::string& bytes) {
  file_.write(std::as_bytes(std::span(bytes)));
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::initializer_list<std::span<const std::byte>> parts,
                    size_t alignment) {
  constexpr size_t kLongestName = 0xFFFF;
  BOXCAR_CHECK(name.size() <= kLongestName,
               "a member of a zip archive has a name of {} bytes, but at most {} are allowed", name.size(),
               kLongestName);
  Entry entry{name, 0, at_, checksumOf(parts)};
  for (const std::span<const std::byte> part : parts) entry.size += part.size();
  std::string extra = entry.size < kMost32 ? "" : packed(uint16_t{1}, uint16_t{16}, entry.size, entry.size);
  extra += padding(at_ + kLocalHeader + name.size() + extra.size(), alignment);
  write(packed(uint32_t{0x04034b50}, kVersionNeeded, kUtf8Names, uint16_t{0}, kDate, entry.checksum, narrow(entry.size),
               narrow(entry.size), static_cast<uint16_t>(name.size()), static_cast<uint16_t>(extra.size())) +
        name + extra);
  for (const std::span<const std::byte> part : parts) {
    file_.write(part);
    at_ += part.size();
  }
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t begin = at_;
  for (const Entry& entry : entries_) {
    std::string extra;
    if (entry.size >= kMost32) extra += packed(entry.size, entry.size);
    if (entry.position >= kMost32) extra += packed(entry.position);
    if (!extra.empty()) extra = packed(uint16_t{1}, static_cast<uint16_t>(extra.size())) + extra;
    write(packed(uint32_t{0x02014b50}, kVersionNeeded, kVersionNeeded, kUtf8Names, uint16_t{0}, kDate, entry.checksum,
                 narrow(entry.size), narrow(entry.size), static_cast<uint16_t>(entry.name.size()),
                 static_cast<uint16_t>(extra.size()), uint16_t{0}, uint16_t{0}, uint16_t{0}, uint32_t{0},
                 narrow(entry.position)) +
          entry.name + extra);
  }
  const uint64_t size = at_ - begin;
  const uint64_t count = entries_.size();
  constexpr uint64_t kMost16 = 0xFFFF;
  if (count >= kMost16 || size >= kMost32 || begin >= kMost32) {
    const uint64_t end = at_;
    write(packed(uint32_t{0x06064b50}, uint64_t{44}, kVersionNeeded, kVersionNeeded, uint32_t{0}, uint32_t{0}, count,
                 count, size, begin));
    write(packed(uint32_t{0x07064b50}, uint32_t{0}, end, uint32_t{1}));
  }
  const auto shown = static_cast<uint16_t>(std::min(count, kMost16));
  write(packed(uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, shown, shown, narrow(size), narrow(begin), uint16_t{0}));
  file_.commit();
}

}  // namespace boxcar::io
