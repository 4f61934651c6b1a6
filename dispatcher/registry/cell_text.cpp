#include <boxcar/dispatcher/registry/cell_text.h>
#include <fmt/format.h>

namespace boxcar {
namespace {

// Returns where the code of a cell comes from: "the kernel registered for CPU at add.cpp:3".
std::string originOf(DispatchKey key, const TableCell& cell, std::string_view what) {
  switch (cell.cause) {
    case CellCause::Exact: return fmt::format("the {} registered for {} at {}", what, key, cell.site);
    case CellCause::Alias:
      return fmt::format("the {} registered for {}, which covers {}, at {}", what, cell.key,
                         key == DispatchKey::Undefined ? "calls without a key" : toString(key), cell.site);
    case CellCause::Fallback: return fmt::format("the fallback of {}, registered at {}", key, cell.site);
    default: return fmt::format("the default of {}", key);
  }
}

}  // namespace

std::string_view toString(CellCause cause) {
  switch (cause) {
    case CellCause::Undefined: return "undefined";
    case CellCause::Exact: return "exact";
    case CellCause::Alias: return "alias";
    case CellCause::Fallback: return "fallback";
    case CellCause::Default: return "default";
    case CellCause::Missing: return "missing";
    case CellCause::Ambiguous: return "ambiguous";
  }
  return "unknown";
}

std::string_view kernelKindOf(const TableCell& cell) {
  switch (cell.kernel->kind) {
    case KernelKind::Function: return cell.kernel->has_unboxed ? "unboxed" : "boxed";
    case KernelKind::Fallthrough: return "fallthrough";
    case KernelKind::Missing: return "missing";
    case KernelKind::AmbiguousAutograd: return "ambiguous";
    case KernelKind::NamedNotSupported: return "named";
    case KernelKind::Modes: return "modes";
    case KernelKind::UndefinedOperator: return "undefined";
  }
  return "unknown";
}

std::string describeCell(DispatchKey key, const TableCell& cell) {
  switch (cell.kernel->kind) {
    case KernelKind::Function: return "runs " + originOf(key, cell, "kernel");
    case KernelKind::Fallthrough:
      if (cell.cause == CellCause::Default) return "lets the call through by default";
      return "lets the call through by " + originOf(key, cell, "fallthrough");
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
