#pragma once

#include <boxcar/dispatcher/operator_entry.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

// How the cells of an operator's table are told to people.

namespace boxcar {

// "exact", "alias", "fallback", "default", "missing", "ambiguous", "undefined".
BOXCAR_API std::string_view toString(CellCause cause);

// What a call finds in a cell, in one word: "unboxed" and "boxed" are somebody's code, "fallthrough" goes on to the
// next key, "modes" runs the thread's modes, "named" refuses named tensors, "missing", "ambiguous" and "undefined"
// explain.
BOXCAR_API std::string_view kernelKindOf(const TableCell& cell);

// What a call does that is dispatched to [key], whose cell this is, as a clause: "runs the kernel registered for CPU at
// add.cpp:3", "lets the call through by default".
BOXCAR_API std::string describeCell(DispatchKey key, const TableCell& cell);

}  // namespace boxcar
