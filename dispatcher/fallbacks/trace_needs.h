#pragma once

#include <boxcar/dispatcher/operator_handle.h>

#include <set>
#include <string>
#include <utility>

namespace boxcar::detail {

// The plugins without which a trace does not run again: those that define its operators, that have the kernels which
// answered, or that bring the devices of its tensors.
class TraceNeeds final {
 public:
  // A call of [op] with [keys], those below the tracer.
  void addCall(const OperatorHandle& op, DispatchKeySet keys);
  void addDevice(Device device);

  // Their files' names, without the folders.
  const std::set<std::string>& files() const noexcept { return files_; }

 private:
  // The plugin whose memory [address] lies in, if it is one's.
  void addOwner(const void* address);

  std::set<std::string> files_;
  // What was looked at before.
  std::set<std::pair<const OperatorEntry*, uint64_t>> calls_;
  std::set<DeviceType> devices_;
};

}  // namespace boxcar::detail
