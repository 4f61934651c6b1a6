#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::io {

// One tensor of a safetensors file: its bytes are [begin, end) of the data after the header.
struct SafetensorsEntry {
  std::string name;
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The header is preceded by its length: eight bytes, little-endian.
inline constexpr uint64_t kSafetensorsLengthBytes = 8;
// The maximum header length of the format.
inline constexpr uint64_t kSafetensorsLongestHeader = 100'000'000;

// Returns the tensors that [header] (JSON) describes, in header order. [path] is the file's, for errors; [data_bytes]
// is the number of bytes after the header. Throws Error naming the file, the tensor and the numbers unless every entry
// matches its dtype and shape and the entries together cover the data without overlaps or gaps, as the format requires.
std::vector<SafetensorsEntry> parseSafetensorsHeader(std::string_view header, uint64_t data_bytes,
                                                     const std::string& path);

// Returns the strings of [header]'s `__metadata__` with their keys, in key order.
std::vector<std::pair<std::string, std::string>> parseSafetensorsMetadata(std::string_view header, uint64_t data_bytes,
                                                                          const std::string& path);

// Returns the JSON for [entries], padded so that the data after it is aligned to eight bytes in the file. Throws Error
// naming the file [path] if a name is not valid UTF-8 or the header is longer than the format allows.
std::string formatSafetensorsHeader(const std::vector<SafetensorsEntry>& entries, const std::string& path);

// Returns the dtype's name, such as "F32"; "" if the format has no name for it.
std::string_view safetensorsDtypeName(ScalarType dtype);

}  // namespace boxcar::io
