#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>
#include <vector>

namespace boxcar::cli {

// The table entries of operators that a user may want to see.
struct TableGrid {
  struct Row {
    OperatorHandle op;
    std::vector<TableEntry> table_entries;  // one for each key
  };
  // Runtime keys, in the order in which a call meets them.
  std::vector<DispatchKey> keys;
  std::vector<Row> rows;
};

// Returns whether somebody registered something for exactly this key: a kernel of the operator, or a fallback.
bool isOwn(const TableEntry& table_entry);

// Return the table entries of [op], or of all operators sorted by name; for all runtime keys, or only for those where
// [isShown] holds for some entry.
TableGrid gridOf(const OperatorHandle& op);
TableGrid gridOfAll();
TableGrid onlyKeysWith(const TableGrid& grid, bool (*isShown)(const TableEntry&));

// Returns all operators as a self-contained page.
std::string pageOf(const TableGrid& grid);

}  // namespace boxcar::cli
