#pragma once

#include <boxcar/interpreter/diagnostic.h>

#include <string>

namespace boxcar {

// The script in its canonical layout, comments kept: what README.md calls Layout. The text depends on the program, its
// comments and its single blank lines alone; formatting it again changes nothing, and its bytecode is the same. A
// script with errors of syntax comes back as it is, and they are reported to [diagnostics].
BOXCAR_API std::string formatSource(const SourcePtr& source, Diagnostics& diagnostics);

}  // namespace boxcar
