#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

// What a script's `with stream()` and `with cuda_graph()` need from a device's backend, which is built on top of
// dispatcher/.

namespace boxcar {

// A call of a script's function that a device may record, and next time replay without the script.
struct FunctionCall {
  std::string_view name;
  std::span<const IValue> arguments;
  // The script's constants that the function reads in addition to its arguments.
  std::span<const IValue> constants;
  // Runs the function on arguments of the same kinds.
  const std::function<IValue(std::span<const IValue> arguments)>& run;
  // What the scope stores with the function, for as long as the function exists; null at first.
  std::shared_ptr<void>& kept;
};

// A device feature that a thread turns on for a block, and that is not a handler of calls.
class BOXCAR_API DeviceScope {
 public:
  virtual ~DeviceScope() = default;

  // Turn it on and off for this thread: once each, on the same thread. Both throw Error.
  virtual void enter() = 0;
  virtual void leave() = 0;

  // Whether call() replaces the calls of functions in the block.
  virtual bool servesFunctions() const noexcept { return false; }
  // Returns the function's result.
  virtual IValue call(const FunctionCall& function);
};

// A backend's scopes. Each function throws Error if there is no device.
struct DeviceScopes {
  // Work goes to a new queue of [device], or of the thread's current device.
  std::unique_ptr<DeviceScope> (*stream)(std::optional<Device> device);
  // Functions are captured as graphs and replayed.
  std::unique_ptr<DeviceScope> (*graph)();
};

// Called by the backend when it is loaded; [scopes] must live as long as the program.
BOXCAR_API void setDeviceScopes(const DeviceScopes* scopes) noexcept;
// Returns the scopes that are set. Throws an Error that names [scope], such as "stream()", if no backend set any.
BOXCAR_API const DeviceScopes& deviceScopes(std::string_view scope);

}  // namespace boxcar
