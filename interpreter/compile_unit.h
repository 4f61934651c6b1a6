#pragma once

#include <boxcar/interpreter/ast.h>
#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/module_loader.h>

namespace boxcar::interp {

// The bytecode of a script. What is wrong with its names and types is reported to [diagnostics], in the order of the
// text, as far as it can be told apart; the unit is then empty. Without [loader] the script can import nothing.
CodeUnit compileUnit(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader = nullptr);

}  // namespace boxcar::interp
