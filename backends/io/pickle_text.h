#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The texts in pickles of protocol 0, which is readable, and the numbers in those of the others.

namespace boxcar::io {

// Decodes what is between the quotes of a Python 2 str, 'caf\xe9\n', with its quotes; nullopt if it is not one.
std::optional<std::string> decodePythonString(std::string_view quoted);

// Decodes Python's "raw-unicode-escape": Latin-1 with \uXXXX and \UXXXXXXXX, to UTF-8.
std::optional<std::string> decodeRawUnicode(std::string_view text);

// Returns the Latin-1 bytes of a UTF-8 text; nullopt if a character is beyond 255 or the text is not UTF-8.
std::optional<std::string> latin1OfUtf8(std::string_view text);

// Returns a whole number in decimal digits, with an L at the end or without; nullopt unless it fits 64 bits.
std::optional<int64_t> parsePickledInt(std::string_view digits);

// Returns a little-endian number in two's complement; nullopt unless it fits 64 bits.
std::optional<int64_t> littleEndianInt(std::string_view bytes);

}  // namespace boxcar::io
