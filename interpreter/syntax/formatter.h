#pragma once

#include <boxcar/interpreter/syntax/diagnostic.h>

#include <string>

namespace boxcar {

// Returns the script in its canonical layout, with comments kept: see Layout in README.md. The text depends only on the
// program, its comments and its single blank lines. Formatting it again changes nothing, and its bytecode is the same.
// A script with syntax errors is returned as it is, and they are reported to [diagnostics].
BOXCAR_API std::string formatSource(const SourcePtr& source, Diagnostics& diagnostics);

}  // namespace boxcar
