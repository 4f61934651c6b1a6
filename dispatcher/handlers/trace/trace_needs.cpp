#include <boxcar/dispatcher/handlers/trace/trace_needs.h>
#include <boxcar/dispatcher/plugin/plugin.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/ivalue/allocator.h>
#include <dlfcn.h>

#include <filesystem>

namespace boxcar::detail {

void TraceNeeds::addOwner(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return;
  for (const PluginInfo& plugin : Dispatcher::singleton().plugins()) {
    if (plugin.path == info.dli_fname) files_.insert(std::filesystem::path(plugin.path).filename().string());
  }
}

void TraceNeeds::addCall(const OperatorHandle& op, DispatchKeySet keys) {
  if (!calls_.emplace(&op.entry(), keys.raw_repr()).second) return;
  // A registration site names its file by a string literal, which is in the plugin's memory.
  addOwner(op.entry().schemaSite().file);
  for (;;) {
    const DispatchKey key = keys.highestPriorityTypeId();
    const TableEntry table_entry = Dispatcher::singleton().computeTableEntry(op, key);
    addOwner(table_entry.site.file);
    if (!table_entry.kernel->isFallthrough() || key == DispatchKey::Undefined) return;
    keys = keys.remove(toFunctionalityKey(key));
  }
}

void TraceNeeds::addDevice(Device device) {
  if (device.type() == DeviceType::CPU || device.type() == DeviceType::Meta) return;
  if (devices_.insert(device.type()).second) addOwner(&allocatorFor(device.type()));
}

}  // namespace boxcar::detail
