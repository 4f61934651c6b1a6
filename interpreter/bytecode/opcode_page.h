#pragma once

#include <boxcar/ivalue/macros.h>

#include <string>

namespace boxcar::interp {

// Returns the text of opcodes.md: every instruction with its operands, its effect on the stack and what it does.
BOXCAR_API std::string opcodePage();

}  // namespace boxcar::interp
