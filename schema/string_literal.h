#pragma once

#include <boxcar/schema/source_text.h>

#include <string>
#include <string_view>

namespace boxcar::detail {

// Behind the string literal that starts at [first] with its quote, or null where it does not end. Either quote, or
// three of one, as in Python.
const char* quotedEnd(const char* first, const char* last) noexcept;

// The text that a string literal stands for, with Python's escapes. SchemaError at an escape that is none.
std::string unquoted(const SourceText& source, std::string_view literal);

}  // namespace boxcar::detail
