#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

// Words of scripts that are imported models.

namespace boxcar::interp {

// Whether no variable of an imported model may be called [word]: the language, or the program itself, needs it.
bool isReservedWord(std::string_view word);

// Whether nn.ops, which imported models import, has a function of the name of PyTorch's operator [word]. A call by that
// name would be one of the function.
bool isHiddenByLibrary(std::string_view word);

// Returns [text] as a string of a script, in double quotes where that is possible.
BOXCAR_API std::string scriptString(std::string_view text);

// Returns [text] as it stands in the text of an f"…" string, outside of its `{…}`.
std::string textOfFString(std::string_view text);

}  // namespace boxcar::interp
