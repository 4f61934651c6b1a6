#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::io {

// One tensor of a safetensors file: its bytes are [begin, end) of what follows the header.
struct SafetensorsEntry {
  std::string name;
  ScalarType dtype = ScalarType::Undefined;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Before the header stands its length, eight bytes, little-endian.
inline constexpr uint64_t kSafetensorsLengthBytes = 8;
// The longest header that the format allows.
inline constexpr uint64_t kSafetensorsLongestHeader = 100'000'000;

// The tensors that [header] (JSON) describes, in its order. [path] is the file's, for errors, [data_bytes] the number
// of bytes behind the header. Every entry is checked against its dtype and shape, and together they cover the data
// without overlap or gap, as the format demands; anything else is an Error that names the file, the tensor and the
// numbers.
std::vector<SafetensorsEntry> parseSafetensorsHeader(std::string_view header, uint64_t data_bytes,
                                                     const std::string& path);

// The texts that [header] has beside the tensors (`__metadata__`), by their keys in the order of these.
std::vector<std::pair<std::string, std::string>> parseSafetensorsMetadata(std::string_view header, uint64_t data_bytes,
                                                                          const std::string& path);

// The JSON for [entries], padded so that the data behind it is aligned to eight bytes in the file. An Error names the
// file [path] when a name is no UTF-8 text or the header becomes longer than the format allows.
std::string formatSafetensorsHeader(const std::vector<SafetensorsEntry>& entries, const std::string& path);

// "F32"; "" for a dtype that the format has no name for.
std::string_view safetensorsDtypeName(ScalarType dtype);

}  // namespace boxcar::io
