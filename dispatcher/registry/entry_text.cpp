#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/entry_text.h>
#include <boxcar/dispatcher/registry/runtime_table.h>
#include <fmt/format.h>

#include <utility>

namespace boxcar {
namespace {

// Returns where the code of a table entry comes from: "the kernel registered for CPU at add.cpp:3".
std::string originOf(DispatchKey key, const TableEntry& table_entry, std::string_view what) {
  switch (table_entry.cause) {
    case EntryCause::Exact: return fmt::format("the {} registered for {} at {}", what, key, table_entry.site);
    case EntryCause::Alias:
      return fmt::format("the {} registered for {}, which covers {}, at {}", what, table_entry.key,
                         key == DispatchKey::Undefined ? "calls without a key" : toString(key), table_entry.site);
    case EntryCause::Fallback: return fmt::format("the fallback of {}, registered at {}", key, table_entry.site);
    default: return fmt::format("the default of {}", key);
  }
}

bool isAlikeEntry(const TableEntry& a, const TableEntry& b) {
  return a.kernel == b.kernel && a.cause == b.cause && a.key == b.key && a.site == b.site;
}

std::vector<std::string> rowOf(std::string key, const TableEntry& table_entry) {
  std::vector<std::string> row = {std::move(key), std::string(kernelKindOf(table_entry)),
                                  std::string(toString(table_entry.cause))};
  if (table_entry.site.line != 0) {
    row.emplace_back(toString(table_entry.key));
    row.push_back(toString(table_entry.site));
  }
  return row;
}

}  // namespace

std::string_view toString(EntryCause cause) {
  switch (cause) {
    case EntryCause::Undefined: return "undefined";
    case EntryCause::Exact: return "exact";
    case EntryCause::Alias: return "alias";
    case EntryCause::Fallback: return "fallback";
    case EntryCause::Default: return "default";
    case EntryCause::Missing: return "missing";
    case EntryCause::Ambiguous: return "ambiguous";
  }
  return "unknown";
}

std::string_view kernelKindOf(const TableEntry& table_entry) {
  switch (table_entry.kernel->kind) {
    case KernelKind::Function: return table_entry.kernel->has_unboxed ? "unboxed" : "boxed";
    case KernelKind::Fallthrough: return "fallthrough";
    case KernelKind::Missing: return "missing";
    case KernelKind::AmbiguousAutograd: return "ambiguous";
    case KernelKind::NamedNotSupported: return "named";
    case KernelKind::Modes: return "modes";
    case KernelKind::UndefinedOperator: return "undefined";
  }
  return "unknown";
}

std::string describeEntry(DispatchKey key, const TableEntry& table_entry) {
  switch (table_entry.kernel->kind) {
    case KernelKind::Function: return "runs " + originOf(key, table_entry, "kernel");
    case KernelKind::Fallthrough:
      if (table_entry.cause == EntryCause::Default) return "lets the call through by default";
      return "lets the call through by " + originOf(key, table_entry, "fallthrough");
    case KernelKind::Missing: return "has no kernel";
    case KernelKind::AmbiguousAutograd:
      return "is ambiguous: CompositeImplicitAutograd and the kernel of a backend both claim it";
    case KernelKind::NamedNotSupported: return "refuses tensors with named dimensions by default";
    case KernelKind::Modes: return "runs this thread's modes, the innermost first";
    case KernelKind::UndefinedOperator: return "belongs to an operator that is not defined";
  }
  return "unknown";
}

bool isUntouched(const TableEntry& table_entry) {
  return table_entry.cause == EntryCause::Missing || table_entry.cause == EntryCause::Default ||
         table_entry.cause == EntryCause::Undefined;
}

TableRows tableRowsOf(const OperatorHandle& op, bool every) {
  TableRows table{{{"key", "kernel", "cause", "registered for", "at"}}};
  // In the order in which a call meets them.
  const std::vector<DispatchKey> keys(detail::kRuntimeKeys.rbegin(), detail::kRuntimeKeys.rend());
  std::vector<TableEntry> entries;
  for (const DispatchKey key : keys) entries.push_back(Dispatcher::singleton().computeTableEntry(op, key));
  for (size_t i = 0; i < entries.size();) {
    size_t end = i + 1;
    if (!every && isUntouched(entries[i])) {
      ++(entries[i].cause == EntryCause::Default ? table.defaults : table.missing);
    } else {
      const auto sharesRow = [&](size_t other) {
        return isPerBackendFunctionalityKey(toFunctionalityKey(keys[i])) && isAlikeEntry(entries[i], entries[other]) &&
               toFunctionalityKey(keys[i]) == toFunctionalityKey(keys[other]);
      };
      while (!every && end < entries.size() && sharesRow(end)) ++end;
      const size_t count = end - i;
      table.rows.push_back(rowOf(count == 1 ? std::string(toString(keys[i]))
                                            : fmt::format("{} to {} ({} keys)", keys[i], keys[end - 1], count),
                                 entries[i]));
    }
    i = end;
  }
  return table;
}

}  // namespace boxcar
