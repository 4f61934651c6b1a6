#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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

// Returns whether nobody's code is in this table entry: it is missing, or has what every operator has there.
BOXCAR_API bool isUntouched(const TableEntry& table_entry);

// An operator's table as rows of cells, below a row of titles: key, kind of kernel, cause, and for what and where it
// was registered.
struct TableRows {
  std::vector<std::vector<std::string>> rows;
  // How many keys have no row.
  size_t defaults = 0;
  size_t missing = 0;
};
// Unless [every], the backends of a functionality whose entries are alike share one row, and untouched keys have none.
BOXCAR_API TableRows tableRowsOf(const OperatorHandle& op, bool every);

}  // namespace boxcar
