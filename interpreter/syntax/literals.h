#pragma once

#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/token.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace boxcar::syntax {

constexpr bool isDigit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool isNameStart(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool isNamePart(char c) noexcept { return isNameStart(c) || isDigit(c); }

struct NumberLiteral {
  TokenKind kind = TokenKind::Int;  // or Float, Imaginary
  size_t length = 0;                // in bytes
  uint64_t integer = 0;
  double real = 0;
  std::string error;  // what is wrong; empty if nothing is
};

// Reads the number at the start of [text], which begins with a digit, or with a point and a digit. Accepts integers up
// to 2^63, so that the least integer can be written.
NumberLiteral readNumber(std::string_view text);

struct Escape {
  size_t length = 0;  // in bytes, the backslash included
  std::string error;
};

// Decodes the escape at the start of [text] and appends the result to [out], as in Python.
Escape readEscape(std::string_view text, std::string& out);

// Returns nothing if [text] is not `[[fill]<>^][+][0][width][,][.n][dfegxs%]`, or asks for more than 9999 places.
std::optional<FormatSpec> readFormatSpec(std::string_view text);

}  // namespace boxcar::syntax
