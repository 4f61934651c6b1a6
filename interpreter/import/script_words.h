#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

// Words of scripts that are imported models.

namespace boxcar::interp {

// Whether no variable of an imported model may be called [word]: the language, or the program itself, needs it.
bool isReservedWord(std::string_view word);

// Returns [text] as a string of a script, in double quotes where that is possible.
BOXCAR_API std::string scriptString(std::string_view text);

}  // namespace boxcar::interp
