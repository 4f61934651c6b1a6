#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <string>

namespace boxcar::interp {

// Returns the complete text of a unit: assemble() makes the same unit from it, without the comments. A comment reaches
// from `;` to the end of the line.
//
//     fn 1 "fn square" 1 -> Int @0..33
//       slots Int Int
//       name i0 x
//     ; square.ops:1: fn square(int x) -> int { return x * x }
//          0  MulInt i1, i0, i0                   @27..32
//          1  ReturnInt i1                        @20..32
BOXCAR_API std::string disassemble(const CodeUnit& unit);

// Returns the text of one function, for people to read.
BOXCAR_API std::string disassembleFunction(const CodeUnit& unit, size_t index);

}  // namespace boxcar::interp
