#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <concepts>
#include <iosfwd>  // IWYU pragma: keep, for std::ios_base
#include <iterator>
#include <string_view>
#include <type_traits>

namespace boxcar {

// A boxcar type with a text form, `toString(value)`, which is found in its namespace. Such a type can be an argument of
// every message (fmt) and can be streamed, with no further code.
template <class T>
concept Printable = (std::is_class_v<T> || std::is_enum_v<T>)&&!std::convertible_to<T, std::string_view> &&
                    requires(const T& value) {
  { toString(value) } -> std::convertible_to<std::string_view>;
};

template <class Stream, Printable T>
requires std::is_base_of_v<std::ios_base, Stream> Stream& operator<<(Stream& stream, const T& value) {
  stream << toString(value);
  return stream;
}

}  // namespace boxcar

// Takes no format specification: for a width, format the text, `toString(value)`.
template <boxcar::Printable T>
struct fmt::formatter<T> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const T& value, Context& context) const {
    // Not fmt::format_to, whose templates would put the formatting of every kind of number into each object file.
    const auto& text = toString(value);
    return std::copy(std::begin(text), std::end(text), context.out());
  }
};
