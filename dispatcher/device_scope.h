#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

// What a script's `with stream()` and `with cuda_graph()` ask of a device's backend, which lies above this room.

namespace boxcar {

// A call of a script's function that a device may record, and the next time run again without the script.
struct FunctionCall {
  std::string_view name;
  std::span<const IValue> arguments;
  // The script's constants that the function reads besides them.
  std::span<const IValue> constants;
  // Runs the function on arguments of the same kinds.
  const std::function<IValue(std::span<const IValue> arguments)>& run;
  // What the scope keeps with the function, for as long as that is there; null at first.
  std::shared_ptr<void>& kept;
};

// Something of a device that a thread has on for the time of a block, and that is no handler of calls.
class BOXCAR_API DeviceScope {
 public:
  virtual ~DeviceScope() = default;

  // On for this thread, and off again, once each and on the same thread. Both throw Error.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Whether call() stands in for the calls of functions in the block.
  virtual bool servesFunctions() const noexcept { return false; }
  // The function's result.
  virtual IValue call(const FunctionCall& function);
};

// A backend's scopes. Each function throws Error where there is no device.
struct DeviceScopes {
  // Work goes to a queue of its own: of [device], or of the thread's current one.
  std::unique_ptr<DeviceScope> (*stream)(std::optional<Device> device);
  // Functions are captured as graphs, and replayed.
  std::unique_ptr<DeviceScope> (*graph)();
};

// Set by the backend while it is loaded; it lives as long as the program.
BOXCAR_API void setDeviceScopes(const DeviceScopes* scopes) noexcept;
// Those that are set: an Error that names [scope], "stream()", where no backend set any.
BOXCAR_API const DeviceScopes& deviceScopes(std::string_view scope);

}  // namespace boxcar
