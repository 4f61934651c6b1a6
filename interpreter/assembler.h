#pragma once

#include <boxcar/interpreter/bytecode.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar::interp {

// The unit that [text] is the disassembly of, verified. People may write such text by hand: comments and spans can be
// left out (an instruction without a span has its function's), and so can all sources: lines of [text] itself are then
// what errors show. Throws a CompileError with the first thing that is wrong.
BOXCAR_API CodeUnit assemble(SourcePtr text);

}  // namespace boxcar::interp
