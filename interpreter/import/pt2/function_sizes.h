#pragma once

#include <boxcar/interpreter/import/pt2/exported_program.h>

namespace boxcar::interp::pt2 {

// Lets each function compute the sizes that it needs from its own tensors. PyTorch computes a number once, where it is
// first needed, and all modules behind that take it. Where a tensor that the function takes has a dimension of the
// same symbolic size, the number is that dimension's, and what is computed from such numbers is computed again. Numbers
// that cannot be had so, and those that come from data, stay as they are.
void placeSizes(ExportedProgram& program);

}  // namespace boxcar::interp::pt2
