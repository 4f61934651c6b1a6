#pragma once

#include <boxcar/dispatcher/registry/operator_entry.h>
#include <boxcar/ivalue/macros.h>

#include <string>
#include <string_view>

// Text that describes the table entries to users.

namespace boxcar {

// "exact", "alias", "fallback", "default", "missing", "ambiguous", "undefined".
BOXCAR_API std::string_view toString(EntryCause cause);

// What a call finds in a table entry, in one word: "unboxed" and "boxed" are registered code, "fallthrough" goes on to
// the next key, "modes" runs the thread's modes, "named" refuses named tensors; "missing", "ambiguous" and "undefined"
// throw an Error that explains.
BOXCAR_API std::string_view kernelKindOf(const TableEntry& table_entry);

// What a call does when it is dispatched to [key], whose table entry is [table_entry], as a clause: "runs the kernel
// registered for CPU at add.cpp:3", "lets the call through by default".
BOXCAR_API std::string describeEntry(DispatchKey key, const TableEntry& table_entry);

}  // namespace boxcar
