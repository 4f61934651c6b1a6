#pragma once

#include <boxcar/interpreter/typed_program.h>

namespace boxcar::interp {

// Marks the reads after which a variable's value is not read any more, so that it may be moved instead of copied.
void markLastUses(typed::Function& function);

}  // namespace boxcar::interp
