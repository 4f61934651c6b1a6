#include <boxcar/backends/io/safetensors_header.h>
#include <boxcar/backends/io/tensor_file.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace boxcar::io {
namespace {

using nlohmann::json;

constexpr std::pair<std::string_view, ScalarType> kDtypes[] = {
    {"BOOL", ScalarType::Bool},  {"U8", ScalarType::Byte},          {"I8", ScalarType::Char},
    {"I16", ScalarType::Short},  {"I32", ScalarType::Int},          {"I64", ScalarType::Long},
    {"F16", ScalarType::Half},   {"BF16", ScalarType::BFloat16},    {"F32", ScalarType::Float},
    {"F64", ScalarType::Double}, {"C64", ScalarType::ComplexFloat},
};

constexpr const char* kMetadata = "__metadata__";

// Numbers in the header are at most 63 bits wide: sizes and positions in a file.
std::optional<int64_t> asCount(const json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto count = value.get<uint64_t>();
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(count);
}

// "an array", "a number".
std::string describe(const json& value) {
  const std::string name = value.type_name();
  return (name == "array" || name == "object" ? "an " : name == "null" ? "" : "a ") + name;
}

// Texts from the file are shown escaped, and cut where they are long.
std::string shown(const json& value) {
  // Writing takes as many calls as an array is deep.
  if (std::ranges::any_of(value, [](const json& element) { return element.is_structured(); })) {
    return value.is_array() ? "[...]" : "{...}";
  }
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

// Reads one header. What is wrong with it is told in one form: file, tensor, numbers.
class Parser {
 public:
  Parser(uint64_t data_bytes, const std::string& path) : data_bytes_(data_bytes), path_(path) {}

  std::vector<SafetensorsEntry> parse(std::string_view header) {
    const json root = readJson(header);
    checkMetadata(root);
    std::vector<SafetensorsEntry> entries;
    for (const std::string& name : names_) {
      if (name != kMetadata) entries.push_back(readEntry(name, root.at(name)));
    }
    checkCoverage(entries);
    return entries;
  }

  std::vector<std::pair<std::string, std::string>> parseMetadata(std::string_view header) {
    const json root = readJson(header);
    checkMetadata(root);
    std::vector<std::pair<std::string, std::string>> texts;
    if (const auto metadata = root.find(kMetadata); metadata != root.end()) {
      for (const auto& [key, value] : metadata->items()) texts.emplace_back(key, value.get<std::string>());
    }
    return texts;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    BOXCAR_FAIL("'{}' is no valid safetensors file: {}", path_, fmt::format(format, std::forward<Args>(args)...));
  }

  json readJson(std::string_view header) {
    // The parser keeps the last of two entries of one name, and sorts them; the names are noted as they come.
    const auto note_names = [this](int depth, json::parse_event_t event, json& parsed) {
      if (depth == 1 && event == json::parse_event_t::key) names_.push_back(parsed.get<std::string>());
      return true;
    };
    // The parser takes a zero byte for the end.
    if (const size_t zero = header.find('\0'); zero != std::string_view::npos) {
      fail("its header is not JSON (at byte {} of {})", zero + 1, header.size());
    }
    json root;
    try {
      root = json::parse(header.begin(), header.end(), note_names);
    } catch (const json::parse_error& error) {
      fail("its header is not JSON (at byte {} of {})", error.byte, header.size());
    } catch (const json::exception&) {
      fail("its header has a number that is too large");
    }
    if (!root.is_object()) fail("its header is JSON, but {} instead of an object", describe(root));
    if (names_.size() != root.size()) {
      std::vector<std::string> sorted = names_;
      std::ranges::sort(sorted);
      fail("its header names the tensor {} twice", pythonStringRepr(*std::ranges::adjacent_find(sorted)));
    }
    return root;
  }

  void checkMetadata(const json& root) const {
    const auto metadata = root.find(kMetadata);
    if (metadata == root.end()) return;
    if (!metadata->is_object()) fail("its {} is {} instead of an object", kMetadata, describe(*metadata));
    for (const auto& [key, value] : metadata->items()) {
      if (!value.is_string()) {
        fail("in its {} the value of {} is {} instead of a string", kMetadata, pythonStringRepr(key), describe(value));
      }
    }
  }

  SafetensorsEntry readEntry(const std::string& name, const json& description) const {
    const std::string tensor = pythonStringRepr(name);
    if (!description.is_object()) {
      fail("its tensor {} is described by {} instead of an object", tensor, describe(description));
    }
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (!description.contains(field)) fail("its tensor {} has no {}", tensor, field);
    }
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = readDtype(tensor, description.at("dtype"));
    entry.shape = readShape(tensor, description.at("shape"));
    std::tie(entry.begin, entry.end) = readOffsets(tensor, description.at("data_offsets"));
    checkBytes(tensor, entry);
    return entry;
  }

  ScalarType readDtype(const std::string& tensor, const json& value) const {
    if (!value.is_string()) fail("its tensor {} has the dtype {}, which is no string", tensor, shown(value));
    const auto& name = value.get_ref<const std::string&>();
    const auto* found = std::ranges::find(kDtypes, name, &std::pair<std::string_view, ScalarType>::first);
    if (found != std::end(kDtypes)) return found->second;
    std::vector<std::string_view> known;
    for (const auto& dtype : kDtypes) known.push_back(dtype.first);
    BOXCAR_FAIL("'{}' cannot be loaded: its tensor {} has the dtype {}, which boxcar does not have; it has {}", path_,
                tensor, shown(value), fmt::join(known, ", "));
  }

  std::vector<int64_t> readShape(const std::string& tensor, const json& value) const {
    if (!value.is_array()) fail("its tensor {} has the shape {}, which is no list", tensor, shown(value));
    std::vector<int64_t> shape;
    for (const json& size : value) {
      const std::optional<int64_t> count = asCount(size);
      if (!count) {
        fail("its tensor {} has the shape {}, where {} is no whole number from 0 to 2^63 - 1", tensor, shown(value),
             shown(size));
      }
      shape.push_back(*count);
    }
    return shape;
  }

  std::pair<uint64_t, uint64_t> readOffsets(const std::string& tensor, const json& value) const {
    const bool pair = value.is_array() && value.size() == 2;
    const std::optional<int64_t> begin = pair ? asCount(value[0]) : std::nullopt;
    const std::optional<int64_t> end = pair ? asCount(value[1]) : std::nullopt;
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
  return Parser(data_bytes, path).parse(header);
}

std::vector<std::pair<std::string, std::string>> parseSafetensorsMetadata(std::string_view header, uint64_t data_bytes,
                                                                          const std::string& path) {
  return Parser(data_bytes, path).parseMetadata(header);
}

std::string formatSafetensorsHeader(const std::vector<SafetensorsEntry>& entries, const std::string& path) {
  std::string text = "{";
  for (const SafetensorsEntry& entry : entries) {
    if (text.size() > 1) text += ',';
    try {
      text += json(entry.name).dump();
    } catch (const json::type_error&) {
      BOXCAR_FAIL("cannot write '{}': the name {} of a tensor is no UTF-8 text", path, pythonStringRepr(entry.name));
    }
    text += fmt::format(R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", safetensorsDtypeName(entry.dtype),
                        fmt::join(std::span(entry.shape), ","), entry.begin, entry.end);
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  BOXCAR_CHECK(text.size() <= kSafetensorsLongestHeader,
               "cannot write '{}': the header for its {} tensors has {} bytes, and the format allows {}", path,
               entries.size(), text.size(), kSafetensorsLongestHeader);
  return text;
}

std::string_view safetensorsDtypeName(ScalarType dtype) {
  const auto* found = std::ranges::find(kDtypes, dtype, &std::pair<std::string_view, ScalarType>::second);
  return found == std::end(kDtypes) ? std::string_view() : found->first;
}

}  // namespace boxcar::io
