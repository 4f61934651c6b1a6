#pragma once

#include <boxcar/interpreter/syntax/line_cursor.h>
#include <boxcar/ivalue/ivalue.h>

#include <string>

namespace boxcar::interp {

// Reads what quotedText() wrote.
std::string readQuoted(LineCursor& line);

// Reads what constantText() wrote.
IValue readConstant(LineCursor& line);

}  // namespace boxcar::interp
