#pragma once

// Writes zip archives byte by byte, so that tests can also write broken ones.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace boxcar::io {

// Returns the lowest [bytes] bytes of [value], the lowest first.
inline std::string number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value);
  return text;
}

inline uint32_t checksumOf(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

struct HandMadeMember {
  std::string name;
  std::string data;
  bool is_deflated = false;
  std::string extra = {};  // in front of the data
};

// Deflates data as one stored block; this mark says that it is the last one.
inline std::string deflated(const std::string& data) {
  return "\x01" + number(data.size(), 2) + number(~data.size(), 2) + data;
}

// Where parts of an archive of archiveOf() are.
constexpr size_t kZipHeaderBytes = 30, kZipEntryBytes = 46, kZipEndBytes = 22;

inline std::string endOf(size_t count, size_t directory, size_t at) {
  return "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) + number(directory, 4) + number(at, 4) +
         number(0, 2);
}

inline std::string archiveOf(const std::vector<HandMadeMember>& members) {
  std::string file;
  std::string directory;
  for (const auto& [name, data, is_deflated, extra] : members) {
    const std::string packed = is_deflated ? deflated(data) : data;
    const std::string common = number(20, 2) + number(0, 2) + number(is_deflated ? 8 : 0, 2) + number(0, 4) +
                               number(checksumOf(data), 4) + number(packed.size(), 4) + number(data.size(), 4) +
                               number(name.size(), 2);
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 12) + number(file.size(), 4) + name;
    file += "PK\x03\x04" + common + number(extra.size(), 2) + name + extra + packed;
  }
  return file + directory + endOf(members.size(), directory.size(), file.size());
}

// Replaces a number at [at].
template <class T>
void put(std::string& file, size_t at, T value) {
  std::memcpy(&file.at(at + sizeof(T) - 1) - (sizeof(T) - 1), &value, sizeof(T));
}

// Returns where the entry of the first member in the directory begins.
inline size_t firstEntry(const std::string& file) { return file.find("PK\x01\x02"); }

}  // namespace boxcar::io
