#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace boxcar::utf8 {

inline bool isContinuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The code points of [text]; every byte that is no continuation byte begins one.
size_t countCodePoints(std::string_view text) noexcept;

struct CodePoint {
  char32_t value = 0;
  size_t length = 0;  // in bytes; 0 where the text is not UTF-8
};

// The code point that [text] begins with.
CodePoint decode(std::string_view text) noexcept;

// Appends [value], which must be a Unicode scalar value.
void append(std::string& text, char32_t value);

inline bool isScalarValue(char32_t value) noexcept { return value < 0xD800 || (value > 0xDFFF && value <= 0x10FFFF); }

}  // namespace boxcar::utf8
