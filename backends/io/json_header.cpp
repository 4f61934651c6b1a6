#include <boxcar/backends/io/json_header.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace boxcar::io {
namespace {

using nlohmann::json;
using Kind = JsonValue::Kind;

// Returns a scalar as JSON; destroying nlohmann's scalars allocates no memory.
std::string dumped(const json& scalar) { return scalar.dump(-1, ' ', true, json::error_handler_t::replace); }

class Reader final : public json::json_sax_t {
 public:
  Reader(std::string_view text, size_t deepest) : text_(text), deepest_(deepest) {}

  JsonHeader read() {
    // The parser treats a zero byte as the end.
    if (const size_t zero = text_.find('\0'); zero != std::string_view::npos) {
      fail(zero + 1);
    } else {
      json::sax_parse(text_.begin(), text_.end(), this);
    }
    return std::move(header_);
  }

  bool null() override { return add(JsonValue()); }
  bool boolean(bool value) override { return add(JsonValue(Kind::Boolean, value ? "true" : "false")); }
  bool number_integer(int64_t value) override { return add(JsonValue(Kind::Number, fmt::to_string(value))); }
  bool number_unsigned(uint64_t value) override {
    JsonValue number(Kind::Number, fmt::to_string(value));
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) number.count = static_cast<int64_t>(value);
    return add(std::move(number));
  }
  bool number_float(double value, const std::string&) override { return add(JsonValue(Kind::Number, dumped(value))); }
  bool string(std::string& value) override { return add(JsonValue(Kind::String, std::move(value))); }
  bool binary(json::binary_t&) override { return false; }  // does not occur in text
  bool start_object(size_t) override { return open(Kind::Object); }
  bool start_array(size_t) override { return open(Kind::Array); }
  bool end_array() override { return close(); }
  bool end_object() override {
    if (depth_ == open_.size()) keepLastOfEachKey(open_.back()->values);
    return close();
  }
  bool key(std::string& value) override {
    if (depth_ == 1) header_.keys.push_back(value);
    key_ = std::move(value);
    return true;
  }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    if (const auto* at = dynamic_cast<const json::parse_error*>(&error)) {
      fail(at->byte);
    } else {
      header_.problem = "has a number that is too large";
    }
    return false;
  }

 private:
  void fail(size_t byte) { header_.problem = fmt::format("is not JSON (at byte {} of {})", byte, text_.size()); }

  bool add(JsonValue value) {
    if (depth_ == 0) {
      header_.root = std::move(value);
    } else if (depth_ <= deepest_) {
      if (open_.back()->isObject()) value.key = std::move(key_);
      open_.back()->values.push_back(std::move(value));
    }
    return true;
  }
  bool open(Kind kind) {
    add(JsonValue(kind));
    // An open value gets no siblings meanwhile, so its address stays valid.
    if (depth_ < deepest_) open_.push_back(depth_ == 0 ? &header_.root : &open_.back()->values.back());
    ++depth_;
    return true;
  }
  bool close() {
    if (depth_ == open_.size()) open_.pop_back();
    --depth_;
    return true;
  }

  static void keepLastOfEachKey(std::vector<JsonValue>& members) {
    std::ranges::stable_sort(members, {}, &JsonValue::key);
    // Reversed, the last one comes first.
    const auto rest = std::ranges::unique(members.rbegin(), members.rend(), {}, &JsonValue::key);
    members.erase(members.begin(), rest.begin().base());
  }

  const std::string_view text_;
  const size_t deepest_;
  JsonHeader header_;
  std::vector<JsonValue*> open_;  // the open arrays and objects that are kept
  size_t depth_ = 0;
  std::string key_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view wanted) const noexcept {
  const auto found = std::ranges::lower_bound(values, wanted, {}, &JsonValue::key);
  return isObject() && found != values.end() && found->key == wanted ? &*found : nullptr;
}

JsonHeader readJsonHeader(std::string_view text, size_t deepest) { return Reader(text, deepest).read(); }

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case Kind::Null: return "null";
    case Kind::Boolean: return "a boolean";
    case Kind::Number: return "a number";
    case Kind::String: return "a string";
    case Kind::Array: return "an array";
    case Kind::Object: break;
  }
  return "an object";
}

std::string shown(const JsonValue& value) {
  std::string text;
  switch (value.kind) {
    case Kind::Null: text = "null"; break;
    case Kind::Boolean:
    case Kind::Number: text = value.text; break;
    case Kind::String: text = dumped(value.text); break;
    case Kind::Array:
    case Kind::Object: {
      const char* const brackets = value.isArray() ? "[]" : "{}";
      if (std::ranges::any_of(value.values, [](const JsonValue& one) { return one.isArray() || one.isObject(); }))
        return fmt::format("{}...{}", brackets[0], brackets[1]);
      for (const JsonValue& one : value.values) {
        if (text.size() > 60) break;
        if (!text.empty()) text += ',';
        if (value.isObject()) text += dumped(one.key) + ':';
        text += shown(one);
      }
      text = fmt::format("{}{}{}", brackets[0], text, brackets[1]);
    }
  }
  if (text.size() > 60) text.replace(57, text.size(), "...");
  return text;
}

std::optional<std::string> jsonString(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {
    return std::nullopt;
  }
}

}  // namespace boxcar::io
