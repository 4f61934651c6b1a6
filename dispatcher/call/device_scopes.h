#pragma once

#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <optional>

namespace boxcar {

// The scopes of a device's backend that is loaded only when it is needed. Scripts know their names, `stream()` and
// `cuda_graph()`, before. Each function throws Error if there is no device.
struct DeviceScopes {
  // Work goes to a new queue of [device], or of the thread's current device.
  std::unique_ptr<Scope> (*stream)(std::optional<Device> device);
  // Functions are captured as graphs and replayed.
  std::unique_ptr<Scope> (*graph)();
};

// Called by the backend when it is loaded; [scopes] must live as long as the program.
BOXCAR_API void setDeviceScopes(const DeviceScopes* scopes) noexcept;

}  // namespace boxcar
