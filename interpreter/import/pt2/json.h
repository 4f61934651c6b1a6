#pragma once

#include <boost/variant2/variant.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// JSON values as they are read, for texts of many megabytes: members stay in their order, and are looked for one after
// the other.

namespace boxcar::interp::pt2::json {

class value;
using array = std::vector<value>;

struct member;

class object final {
 public:
  // Returns null if there is no such member.
  const value* if_contains(std::string_view key) const noexcept;
  const member* begin() const noexcept;
  const member* end() const noexcept;
  size_t size() const noexcept;
  value& add(std::string key);

 private:
  std::vector<member> members_;
};

class value final {
 public:
  value() noexcept = default;
  template <class T>
  explicit value(T content) : content_(std::move(content)) {}

  bool is_null() const noexcept { return is<std::nullptr_t>(); }
  bool is_string() const noexcept { return is<std::string>(); }
  bool is_array() const noexcept { return is<array>(); }
  bool is_object() const noexcept { return is<object>(); }
  bool is_int64() const noexcept { return is<int64_t>(); }
  bool is_number() const noexcept { return is<int64_t>() || is<double>(); }
  // Each must be of that kind.
  const std::string& get_string() const { return boost::variant2::get<std::string>(content_); }
  const array& get_array() const { return boost::variant2::get<array>(content_); }
  array& get_array() { return boost::variant2::get<array>(content_); }
  const object& get_object() const { return boost::variant2::get<object>(content_); }
  object& get_object() { return boost::variant2::get<object>(content_); }
  int64_t get_int64() const { return boost::variant2::get<int64_t>(content_); }
  double get_number() const {
    return is_int64() ? static_cast<double>(get_int64()) : boost::variant2::get<double>(content_);
  }
  // Null if it is of another kind.
  const int64_t* if_int64() const noexcept { return boost::variant2::get_if<int64_t>(&content_); }
  const bool* if_bool() const noexcept { return boost::variant2::get_if<bool>(&content_); }
  const array* if_array() const noexcept { return boost::variant2::get_if<array>(&content_); }
  const object* if_object() const noexcept { return boost::variant2::get_if<object>(&content_); }

 private:
  template <class T>
  bool is() const noexcept {
    return boost::variant2::holds_alternative<T>(content_);
  }

  boost::variant2::variant<std::nullptr_t, bool, int64_t, double, std::string, array, object> content_{nullptr};
};

struct member {
  std::string key;
  json::value content;
};

inline const member* object::begin() const noexcept { return members_.data(); }
inline const member* object::end() const noexcept { return members_.data() + members_.size(); }
inline size_t object::size() const noexcept { return members_.size(); }

// Parses [text], without the texts that only PyTorch's own passes read. [what] names it in errors. Throws Error if it
// is not JSON, or nests too deep.
value parse(std::string_view text, const std::string& what);

}  // namespace boxcar::interp::pt2::json
