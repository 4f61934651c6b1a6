#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <string>
#include <vector>

namespace boxcar::cli {

// The table entries of operators, as far as somebody may want to see them.
struct TableGrid {
  struct Row {
    OperatorHandle op;
    std::vector<TableEntry> table_entries;  // one for each key
  };
  // Runtime keys, those that a call meets first in front.
  std::vector<DispatchKey> keys;
  std::vector<Row> rows;
};

// Whether nobody's code stands in [table_entry]: it is missing, or has what every operator has there.
bool isUntouched(const TableEntry& table_entry);

// Whether somebody registered something for this very key: a kernel of the operator, or a fallback.
bool isOwn(const TableEntry& table_entry);

// The table entries of [op], or of all operators by name; of all runtime keys, or of those that [isShown](table_entry)
// holds for somewhere.
TableGrid gridOf(const OperatorHandle& op);
TableGrid gridOfAll();
TableGrid onlyKeysWith(const TableGrid& grid, bool (*isShown)(const TableEntry&));

// All operators as a self-contained page.
std::string pageOf(const TableGrid& grid);

}  // namespace boxcar::cli
