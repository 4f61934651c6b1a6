#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace boxcar::io {

// A JSON value in a file's header. Unlike nlohmann's values, destroying it allocates no memory, so reading when memory
// is short ends with an error.
struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Number, String, Array, Object };

  explicit JsonValue(Kind its_kind = Kind::Null, std::string its_text = {}) noexcept
      : kind(its_kind), text(std::move(its_text)) {}

  Kind kind;
  std::string key;                // of a member of an object
  std::string text;               // a string's characters; a number or a boolean as JSON
  std::optional<int64_t> count;   // a whole number from 0 to 2^63 - 1
  std::vector<JsonValue> values;  // an array's elements, or an object's members sorted by key, the last one of each

  bool isString() const noexcept { return kind == Kind::String; }
  bool isArray() const noexcept { return kind == Kind::Array; }
  bool isObject() const noexcept { return kind == Kind::Object; }
  // Returns an object's member; null if there is none.
  const JsonValue* find(std::string_view wanted) const noexcept;
};

// A header, or a description of what is wrong with it.
struct JsonHeader {
  JsonValue root;
  std::vector<std::string> keys;  // the root's keys in text order, including duplicates
  std::string problem;            // "is not JSON (at byte 3 of 10)"; "" if nothing is wrong
};

// Parses a header. Values nested more than [deepest] levels deep are dropped; error messages show no deeper ones.
JsonHeader readJsonHeader(std::string_view text, size_t deepest = 5);

// Returns "an array", "a number".
std::string describe(const JsonValue& value);

// Returns the value as JSON, escaped, and truncated if it is long.
std::string shown(const JsonValue& value);

// Returns [text] as a JSON string; nullopt if it is not valid UTF-8.
std::optional<std::string> jsonString(const std::string& text);

}  // namespace boxcar::io
