#pragma once

#include <boxcar/interpreter/bytecode/builtins.h>

#include <vector>

namespace boxcar::interp {

using BuiltinTable = std::vector<Builtin>;

// Each function adds the built-ins of its subject.
void addGeneralBuiltins(BuiltinTable& table);
void addNumberBuiltins(BuiltinTable& table);
void addTextBuiltins(BuiltinTable& table);
void addStringBuiltins(BuiltinTable& table);
void addMathBuiltins(BuiltinTable& table);
void addListBuiltins(BuiltinTable& table);
void addDictBuiltins(BuiltinTable& table);
void addTensorBuiltins(BuiltinTable& table);
void addOperatorBuiltins(BuiltinTable& table);
// Adds the built-ins that make the handlers for `with`; they are hidden, see handler_object.h.
void addHandlerBuiltins(BuiltinTable& table);

// Adds a built-in; without a [rule], the schema gives its result type: `len(Any value) -> int`.
void addBuiltin(BuiltinTable& table, std::string_view schema, Builtin::Function function,
                Builtin::ResultRule rule = nullptr);
// Adds a built-in whose last positional parameter takes [least] to [most] separate arguments.
void addVariadic(BuiltinTable& table, std::string_view schema, uint16_t least, uint16_t most,
                 Builtin::Function function, Builtin::ResultRule rule = nullptr);

}  // namespace boxcar::interp
