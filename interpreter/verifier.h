#pragma once

#include <boxcar/interpreter/bytecode.h>

#include <cstdint>
#include <vector>

namespace boxcar::interp {

// What the proof finds out about a function and the machine needs.
struct FunctionBounds {
  uint32_t max_stack = 0;   // values that it has on the stack at most
  uint16_t max_passed = 0;  // arguments that it passes to functions at most
};

// Proves what the machine does not check: that every index is one of a thing that is there and of the right kind, that
// slots hold what the opcodes expect, that jumps stay in their function, that the stack has the same height on all
// paths to a place and never less than an instruction takes, that functions end with a return of the right kind. Throws
// an Error that names the function and the instruction.
std::vector<FunctionBounds> verify(const CodeUnit& unit);

}  // namespace boxcar::interp
