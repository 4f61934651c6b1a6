#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/registry/dispatcher.h>

namespace boxcar {

bool runsScriptKernel(const OperatorHandle& op, DispatchKeySet keys) {
  for (;;) {
    const DispatchKey key = keys.highestPriorityTypeId();
    const TableCell cell = Dispatcher::singleton().computeCell(op, key);
    if (cell.cause == CellCause::Exact || cell.cause == CellCause::Alias) {
      if (!cell.kernel->isFallthrough()) return cell.site.is_script;
    }
    if (key == DispatchKey::Undefined) return false;
    keys = keys.remove(toFunctionalityKey(key));
  }
}

}  // namespace boxcar
