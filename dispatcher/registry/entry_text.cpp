#include <boxcar/dispatcher/registry/entry_text.h>
#include <fmt/format.h>

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

}  // namespace boxcar
