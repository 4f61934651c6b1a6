#pragma once

#include <boxcar/schema/source_text.h>

#include <string>
#include <string_view>

namespace boxcar::detail {

// Returns the place behind the string literal whose quote is at [first], or null if it does not end. Either quote is
// allowed, or three of one, as in Python.
const char* quotedEnd(const char* first, const char* last) noexcept;

// Returns the text that a string literal stands for, with Python's escapes. Throws SchemaError at an unknown escape.
std::string unquoted(const SourceText& source, std::string_view literal);

}  // namespace boxcar::detail
