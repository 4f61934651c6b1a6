#include <boxcar/dispatcher/handlers/script_kernel.h>
#include <boxcar/dispatcher/registry/dispatcher.h>

namespace boxcar {

bool runsScriptKernel(const OperatorHandle& op, DispatchKeySet keys) {
  for (;;) {
    const DispatchKey key = keys.highestPriorityTypeId();
    const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(op, key);
    if (table_entry.cause == EntryCause::Exact || table_entry.cause == EntryCause::Alias) {
      if (!table_entry.kernel->isFallthrough()) return table_entry.site.is_script;
    }
    if (key == DispatchKey::Undefined) return false;
    keys = keys.remove(toFunctionalityKey(key));
  }
}

}  // namespace boxcar
