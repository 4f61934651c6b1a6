#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>

#include <set>
#include <string>
#include <utility>

namespace boxcar::detail {

// The plugins that a trace needs to run again: those that define its operators, that contain the kernels that answered,
// or that provide the devices of its tensors.
class TraceNeeds final {
 public:
  // Adds a call of [op] with [keys], the keys below the tracer.
  void addCall(const OperatorHandle& op, DispatchKeySet keys);
  void addDevice(Device device);

  // The names of their files, without folders.
  const std::set<std::string>& files() const noexcept { return files_; }

 private:
  // Adds the plugin that contains [address], if any.
  void addOwner(const void* address);

  std::set<std::string> files_;
  // What was already checked.
  std::set<std::pair<const OperatorEntry*, uint64_t>> calls_;
  std::set<DeviceType> devices_;
};

}  // namespace boxcar::detail
