#pragma once

#include <boxcar/dispatcher/call/default_device.h>
#include <boxcar/dispatcher/call/local_dispatch_key_set.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <optional>

namespace boxcar::transforms {

// While it lives, the calls of this thread make fake tensors: they take no memory and need no device. Tensors that are
// made without naming a device are on [device], if there is one.
class BOXCAR_API FakeTensorGuard final {
 public:
  explicit FakeTensorGuard(std::optional<Device> device = std::nullopt);

 private:
  const IncludeDispatchKeyGuard fake_;
  const DefaultDeviceGuard device_;
};

}  // namespace boxcar::transforms
