#pragma once

#include <boxcar/interpreter/ast.h>
#include <boxcar/interpreter/bytecode.h>
#include <boxcar/interpreter/diagnostic.h>
#include <boxcar/interpreter/input_scope.h>
#include <boxcar/interpreter/module_loader.h>

namespace boxcar::interp {

// The bytecode of a script. What is wrong with its names and types is reported to [diagnostics], in the order of the
// text, as far as it can be told apart; the unit is then empty. Without [loader] the script can import nothing.
CodeUnit compileUnit(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader = nullptr);

// The same for an input of a session, to which [earlier] is known. The first constants of the unit are the input's own,
// those behind them the session's, by name.
CodeUnit compileInput(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader,
                      const EarlierInputs& earlier, InputOutline& outline);

}  // namespace boxcar::interp
