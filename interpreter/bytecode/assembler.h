#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/ivalue/macros.h>

namespace boxcar::interp {

// Returns the verified unit that the disassembly [text] describes. The text may be written by hand: comments and spans
// can be left out (an instruction without a span has its function's span). So can all sources; errors then show lines
// of [text] itself. Throws CompileError for the first mistake.
BOXCAR_API CodeUnit assemble(SourcePtr text);

}  // namespace boxcar::interp
