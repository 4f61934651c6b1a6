#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <boxcar/interpreter/cli/table_grid.h>

#include <algorithm>

namespace boxcar::cli {
namespace {

void addRow(TableGrid& grid, const OperatorHandle& op) {
  TableGrid::Row& row = grid.rows.emplace_back(TableGrid::Row{op, {}});
  for (const DispatchKey key : grid.keys)
    row.table_entries.push_back(Dispatcher::singleton().computeTableEntry(op, key));
}

TableGrid gridWithAllKeys() { return {{detail::kRuntimeKeys.rbegin(), detail::kRuntimeKeys.rend()}, {}}; }

}  // namespace

bool isOwn(const TableEntry& table_entry) {
  return table_entry.cause == EntryCause::Exact || table_entry.cause == EntryCause::Fallback;
}

TableGrid gridOf(const OperatorHandle& op) {
  TableGrid grid = gridWithAllKeys();
  addRow(grid, op);
  return grid;
}

TableGrid gridOfAll() {
  std::vector<OperatorName> names = Dispatcher::singleton().getAllOpNames();
  std::ranges::sort(names, {}, [](const OperatorName& name) { return toString(name); });
  TableGrid grid = gridWithAllKeys();
  for (const OperatorName& name : names) {
    if (const auto op = Dispatcher::singleton().findSchema(name)) addRow(grid, *op);
  }
  return grid;
}

TableGrid onlyKeysWith(const TableGrid& grid, bool (*isShown)(const TableEntry&)) {
  TableGrid result;
  for (const TableGrid::Row& row : grid.rows) result.rows.push_back({row.op, {}});
  for (size_t i = 0; i < grid.keys.size(); ++i) {
    if (!std::ranges::any_of(grid.rows, [&](const TableGrid::Row& row) { return isShown(row.table_entries[i]); }))
      continue;
    result.keys.push_back(grid.keys[i]);
    for (size_t row = 0; row < grid.rows.size(); ++row)
      result.rows[row].table_entries.push_back(grid.rows[row].table_entries[i]);
  }
  return result;
}

}  // namespace boxcar::cli
