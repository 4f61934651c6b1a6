#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/source_text.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::detail {

// One word, number or quoted string in a default, as it stands in the text.
struct Literal {
  enum class Kind : std::uint8_t { Word, Number, String };
  Kind kind;
  bool is_negative;
  // All of it, with sign or quotes.
  std::string_view text;
  // A number's digits, without the sign.
  std::string_view digits;
};

// A default as it stands in the text: one literal, or several in brackets.
struct DefaultText {
  std::string_view text;
  bool is_list;
  std::span<const Literal> literals;
};

// The value of a default for an argument of [type], a list of [size] elements where that is not negative. SchemaError
// where it is no default of that type.
IValue readDefault(const SourceText& source, const DefaultText& parsed, TypePtr type, std::int32_t size);

// How a schema writes a value of [type] as a default. Error where it cannot, and where the value is of another type.
std::string spellDefault(const IValue& value, TypePtr type, std::int32_t size);

}  // namespace boxcar::detail
