#include <boxcar/backends/io/json_header.h>
#include <boxcar/backends/io/safetensors_header.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace boxcar::io {
namespace {

constexpr std::pair<std::string_view, ScalarType> kSafetensorsDtypes[] = {
    {"BOOL", ScalarType::Bool},  {"U8", ScalarType::Byte},          {"I8", ScalarType::Char},
    {"I16", ScalarType::Short},  {"I32", ScalarType::Int},          {"I64", ScalarType::Long},
    {"F16", ScalarType::Half},   {"BF16", ScalarType::BFloat16},    {"F32", ScalarType::Float},
    {"F64", ScalarType::Double}, {"C64", ScalarType::ComplexFloat},
};

constexpr const char* kMetadata = "__metadata__";

// Parses one header. All errors have the same form: file, tensor, numbers.
class SafetensorsParser {
 public:
  SafetensorsParser(uint64_t data_bytes, const std::string& path) : data_bytes_(data_bytes), path_(path) {}

  std::vector<SafetensorsEntry> parse(std::string_view header) {
    const JsonValue root = readJson(header);
    checkMetadata(root);
    std::vector<SafetensorsEntry> entries;
    for (const std::string& name : names_) {
      if (name != kMetadata) entries.push_back(readEntry(name, *root.find(name)));
    }
    checkCoverage(entries);
    return entries;
  }

  std::vector<std::pair<std::string, std::string>> parseMetadata(std::string_view header) {
    const JsonValue root = readJson(header);
    checkMetadata(root);
    std::vector<std::pair<std::string, std::string>> texts;
    if (const JsonValue* metadata = root.find(kMetadata)) {
      for (const JsonValue& value : metadata->values) texts.emplace_back(value.key, value.text);
    }
    return texts;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    BOXCAR_FAIL("'{}' is not a valid safetensors file: {}", path_, fmt::format(format, std::forward<Args>(args)...));
  }

  JsonValue readJson(std::string_view header) {
    JsonHeader read = readJsonHeader(header);
    if (!read.problem.empty()) fail("its header {}", read.problem);
    if (!read.root.isObject()) fail("its header is JSON, but {} instead of an object", describe(read.root));
    names_ = std::move(read.keys);
    if (names_.size() != read.root.values.size()) {
      std::vector<std::string> sorted = names_;
      std::ranges::sort(sorted);
      fail("its header names the tensor {} twice", pythonStringRepr(*std::ranges::adjacent_find(sorted)));
    }
    return std::move(read.root);
  }

  void checkMetadata(const JsonValue& root) const {
    const JsonValue* metadata = root.find(kMetadata);
    if (metadata == nullptr) return;
    if (!metadata->isObject()) fail("its {} is {} instead of an object", kMetadata, describe(*metadata));
    for (const JsonValue& value : metadata->values) {
      if (!value.isString()) {
        fail("in its {} the value of {} is {} instead of a string", kMetadata, pythonStringRepr(value.key),
             describe(value));
      }
    }
  }

  SafetensorsEntry readEntry(const std::string& name, const JsonValue& description) const {
    const std::string tensor = pythonStringRepr(name);
    if (!description.isObject()) {
      fail("its tensor {} is described by {} instead of an object", tensor, describe(description));
    }
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (description.find(field) == nullptr) fail("its tensor {} has no {}", tensor, field);
    }
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = readDtype(tensor, *description.find("dtype"));
    entry.shape = readShape(tensor, *description.find("shape"));
    std::tie(entry.begin, entry.end) = readOffsets(tensor, *description.find("data_offsets"));
    checkBytes(tensor, entry);
    return entry;
  }

  ScalarType readDtype(const std::string& tensor, const JsonValue& value) const {
    if (!value.isString()) fail("its tensor {} has the dtype {}, which is not a string", tensor, shown(value));
    const auto* found =
        std::ranges::find(kSafetensorsDtypes, value.text, &std::pair<std::string_view, ScalarType>::first);
    if (found != std::end(kSafetensorsDtypes)) return found->second;
    std::vector<std::string_view> known;
    for (const auto& dtype : kSafetensorsDtypes) known.push_back(dtype.first);
    BOXCAR_FAIL("'{}' cannot be loaded: its tensor {} has the dtype {}, which boxcar does not have; it has {}", path_,
                tensor, shown(value), fmt::join(known, ", "));
  }

  std::vector<int64_t> readShape(const std::string& tensor, const JsonValue& value) const {
    if (!value.isArray()) fail("its tensor {} has the shape {}, which is not a list", tensor, shown(value));
    std::vector<int64_t> shape;
    for (const JsonValue& size : value.values) {
      if (!size.count) {
        fail("its tensor {} has the shape {}, where {} is not a whole number from 0 to 2^63 - 1", tensor, shown(value),
             shown(size));
      }
      shape.push_back(*size.count);
    }
    return shape;
  }

  std::pair<uint64_t, uint64_t> readOffsets(const std::string& tensor, const JsonValue& value) const {
    const bool pair = value.isArray() && value.values.size() == 2;
    const std::optional<int64_t> begin = pair ? value.values[0].count : std::nullopt;
    const std::optional<int64_t> end = pair ? value.values[1].count : std::nullopt;
    if (!begin || !end) {
      fail("its tensor {} has the data_offsets {}, which are no two whole numbers from 0 to 2^63 - 1", tensor,
           shown(value));
    }
    if (*begin > *end) fail("its tensor {} begins at byte {} of the data and ends before, at {}", tensor, *begin, *end);
    if (static_cast<uint64_t>(*end) > data_bytes_) {
      fail("its tensor {} claims bytes {} to {} of the data, but the file has {} bytes of data", tensor, *begin, *end,
           data_bytes_);
    }
    return {*begin, *end};
  }

  void checkBytes(const std::string& tensor, const SafetensorsEntry& entry) const {
    const std::optional<uint64_t> bytes = bytesOfElements(entry.dtype, entry.shape);
    const std::string_view dtype = safetensorsDtypeName(entry.dtype);
    const std::string shape = fmt::format("[{}]", fmt::join(std::span(entry.shape), ", "));
    if (!bytes.has_value()) {
      fail("its tensor {} of dtype {} and shape {} has more bytes than 63 bits can count", tensor, dtype, shape);
    }
    if (*bytes != entry.end - entry.begin) {
      fail("its tensor {} of dtype {} and shape {} has {} bytes, but its data_offsets [{}, {}] give it {}", tensor,
           dtype, shape, *bytes, entry.begin, entry.end, entry.end - entry.begin);
    }
  }

  void checkCoverage(const std::vector<SafetensorsEntry>& entries) const {
    std::vector<const SafetensorsEntry*> by_position;
    for (const SafetensorsEntry& entry : entries) by_position.push_back(&entry);
    std::ranges::sort(by_position, {},
                      [](const SafetensorsEntry* entry) { return std::pair(entry->begin, entry->end); });
    uint64_t covered = 0;
    const SafetensorsEntry* before = nullptr;
    for (const SafetensorsEntry* entry : by_position) {
      if (entry->begin < covered) {
        fail("its tensors {} and {} overlap: one ends at byte {} of the data, the other begins at {}",
             pythonStringRepr(before->name), pythonStringRepr(entry->name), covered, entry->begin);
      }
      if (entry->begin > covered) {
        fail("no tensor has bytes {} to {} of its data, before tensor {}", covered, entry->begin,
             pythonStringRepr(entry->name));
      }
      covered = entry->end;
      before = entry;
    }
    if (covered != data_bytes_) {
      fail("its tensors take {} bytes, but the file has {} bytes of data", covered, data_bytes_);
    }
  }

  uint64_t data_bytes_;
  const std::string& path_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<SafetensorsEntry> parseSafetensorsHeader(std::string_view header, uint64_t data_bytes,
                                                     const std::string& path) {
  return SafetensorsParser(data_bytes, path).parse(header);
}

std::vector<std::pair<std::string, std::string>> parseSafetensorsMetadata(std::string_view header, uint64_t data_bytes,
                                                                          const std::string& path) {
  return SafetensorsParser(data_bytes, path).parseMetadata(header);
}

std::string formatSafetensorsHeader(const std::vector<SafetensorsEntry>& entries, const std::string& path) {
  std::string text = "{";
  for (const SafetensorsEntry& entry : entries) {
    if (text.size() > 1) text += ',';
    const std::optional<std::string> name = jsonString(entry.name);
    BOXCAR_CHECK(name.has_value(), "cannot write '{}': the name {} of a tensor is not UTF-8 text", path,
                 pythonStringRepr(entry.name));
    text += *name + fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                safetensorsDtypeName(entry.dtype), fmt::join(std::span(entry.shape), ","), entry.begin,
                                entry.end);
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  BOXCAR_CHECK(text.size() <= kSafetensorsLongestHeader,
               "cannot write '{}': the header for its {} tensors has {} bytes, and the format allows {}", path,
               entries.size(), text.size(), kSafetensorsLongestHeader);
  return text;
}

std::string_view safetensorsDtypeName(ScalarType dtype) {
  const auto* found = std::ranges::find(kSafetensorsDtypes, dtype, &std::pair<std::string_view, ScalarType>::second);
  return found == std::end(kSafetensorsDtypes) ? std::string_view() : found->first;
}

}  // namespace boxcar::io
