#pragma once

#include <boxcar/interpreter/compiler/typed_program.h>

namespace boxcar::interp {

// Marks the last read of each variable's value, so that the value can be moved instead of copied.
void markLastUses(typed::Function& function);

}  // namespace boxcar::interp
