#pragma once

#include <boxcar/interpreter/builtins.h>

#include <vector>

namespace boxcar::interp {

using BuiltinTable = std::vector<Builtin>;

// Each adds the built-ins of its subject.
void addGeneralBuiltins(BuiltinTable& table);
void addNumberBuiltins(BuiltinTable& table);
void addTextBuiltins(BuiltinTable& table);
void addListBuiltins(BuiltinTable& table);
void addDictBuiltins(BuiltinTable& table);
void addTensorBuiltins(BuiltinTable& table);
void addOperatorBuiltins(BuiltinTable& table);
// What makes the handlers that `with` switches on; hidden, see handler_object.h.
void addHandlerBuiltins(BuiltinTable& table);

// A built-in without a rule of its own: `len(Any value) -> int`.
void addBuiltin(BuiltinTable& table, std::string_view schema, Builtin::Function function,
                Builtin::ResultRule rule = nullptr);
// One whose last positional parameter is written singly, [least] to [most] times.
void addVariadic(BuiltinTable& table, std::string_view schema, uint16_t least, uint16_t most,
                 Builtin::Function function, Builtin::ResultRule rule = nullptr);

}  // namespace boxcar::interp
