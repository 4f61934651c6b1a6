#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::io {

// A JSON value of a file's header. It needs no memory to be destroyed, as nlohmann's do: what is read when memory is
// short ends with an error.
struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object };

  explicit JsonValue(Kind its_kind = Kind::Null, std::string its_text = {}) noexcept
      : kind(its_kind), text(std::move(its_text)) {}

  Kind kind;
  std::string key;                // of a member of an object
  std::string text;               // a string's characters; a number or a boolean as JSON
  std::optional<int64_t> count;   // a whole number from 0 to 2^63 - 1
  std::vector<JsonValue> values;  // an array's elements, or an object's members by their keys, the last one of each

  bool isString() const noexcept { return kind == Kind::String; }
  bool isArray() const noexcept { return kind == Kind::Array; }
  bool isObject() const noexcept { return kind == Kind::Object; }
  // An object's member; null where there is none.
  const JsonValue* find(std::string_view wanted) const noexcept;
};

// A header, or what is wrong with it.
struct JsonHeader {
  JsonValue root;
  std::vector<std::string> keys;  // of the root, in the order of the text, each as often as it is there
  std::string problem;            // "is not JSON (at byte 3 of 10)"; "" where nothing is wrong
};

// Values that lie more than five deep are left out.
JsonHeader readJsonHeader(std::string_view text);

// "an array", "a number".
std::string describe(const JsonValue& value);

// As JSON, escaped, and cut where it is long.
std::string shown(const JsonValue& value);

// [text] as a JSON string; nothing where it is no UTF-8.
std::optional<std::string> jsonString(const std::string& text);

}  // namespace boxcar::io
