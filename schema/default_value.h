#pragma once

#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/source_text.h>
#include <boxcar/schema/type.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace boxcar::detail {

// One word, number or quoted string in a default, as it is in the text.
struct Literal {
  enum class Kind : std::uint8_t { Word, Number, String };
  Kind kind;
  bool is_negative;
  // The whole text, with sign or quotes.
  std::string_view text;
  // A number's digits, without the sign.
  std::string_view digits;
};

// A default as it is in the text: one literal, or several in brackets.
struct DefaultText {
  std::string_view text;
  bool is_list;
  std::span<const Literal> literals;
};

// Returns the value of a default for an argument of [type], a list of [size] elements if [size] is not negative. Throws
// SchemaError if it is not a default of that type.
IValue readDefault(const SourceText& source, const DefaultText& parsed, TypePtr type, std::int32_t size);

// Returns how a schema writes a value of [type] as a default. Throws Error if it cannot, or if the value is of another
// type.
std::string spellDefault(const IValue& value, TypePtr type, std::int32_t size);

}  // namespace boxcar::detail
