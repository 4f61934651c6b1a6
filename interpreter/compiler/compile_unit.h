#pragma once

#include <boxcar/interpreter/bytecode/bytecode.h>
#include <boxcar/interpreter/compiler/input_scope.h>
#include <boxcar/interpreter/runtime/module_loader.h>
#include <boxcar/interpreter/syntax/ast.h>
#include <boxcar/interpreter/syntax/diagnostic.h>

namespace boxcar::interp {

// Returns the bytecode of a script. Reports errors in names and types to [diagnostics], in text order, as far as they
// can be told apart; the unit is empty if there are any. Without [loader] the script cannot import anything.
CodeUnit compileUnit(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader = nullptr);

// Compiles an input of a session, which knows [earlier]. The unit's first constants are the input's own; those after
// them are the session's, by name.
CodeUnit compileInput(const syntax::SyntaxTree& tree, Diagnostics& diagnostics, ModuleLoader* loader,
                      const EarlierInputs& earlier, InputOutline& outline);

}  // namespace boxcar::interp
