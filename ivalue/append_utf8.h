#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar {

// Appends a code point, up to 0x10FFFF, in UTF-8. Surrogates become the three bytes that they would have.
BOXCAR_API void appendUtf8(std::string& text, char32_t point);

}  // namespace boxcar
