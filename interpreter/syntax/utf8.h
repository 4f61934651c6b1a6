#pragma once

#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace boxcar::utf8 {

inline bool isContinuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Counts the code points of [text]; every byte that is not a continuation byte begins one.
size_t countCodePoints(std::string_view text) noexcept;

// Returns as many whole code points of [text] as fit in [bytes].
BOXCAR_API std::string_view beginning(std::string_view text, size_t bytes) noexcept;

struct CodePoint {
  char32_t value = 0;
  size_t length = 0;  // in bytes; 0 if the text is not UTF-8
};

// Returns the first code point of [text].
BOXCAR_API CodePoint decode(std::string_view text) noexcept;

inline bool isScalarValue(char32_t value) noexcept { return value < 0xD800 || (value > 0xDFFF && value <= 0x10FFFF); }

// Whether Python treats it as white space.
bool isSpace(char32_t point) noexcept;
// Return how many bytes of white space [text] begins with, and where its first white space is, or its end.
size_t countSpaces(std::string_view text) noexcept;
size_t findSpace(std::string_view text) noexcept;
// Returns [text] without the white space at both ends.
BOXCAR_API std::string_view withoutSpaces(std::string_view text) noexcept;

}  // namespace boxcar::utf8
