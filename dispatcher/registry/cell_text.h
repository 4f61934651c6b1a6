#pragma once

#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

// Text that describes the cells of an operator's table to users.

namespace boxcar {

// "exact", "alias", "fallback", "default", "missing", "ambiguous", "undefined".
BOXCAR_API std::string_view toString(CellCause cause);

// What a call finds in a cell, in one word: "unboxed" and "boxed" are registered code, "fallthrough" goes on to the
// next key, "modes" runs the thread's modes, "named" refuses named tensors; "missing", "ambiguous" and "undefined"
// throw an Error that explains.
BOXCAR_API std::string_view kernelKindOf(const TableCell& cell);

// What a call does when it is dispatched to [key], whose cell is [cell], as a clause: "runs the kernel registered for
// CPU at add.cpp:3", "lets the call through by default".
BOXCAR_API std::string describeCell(DispatchKey key, const TableCell& cell);

}  // namespace boxcar
