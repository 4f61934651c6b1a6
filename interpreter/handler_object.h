#pragma once

#include <boxcar/dispatcher/device_scope.h>
#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/ivalue/ivalue.h>

#include <memory>
#include <string>
#include <string_view>

namespace boxcar::interp {

// A handler on its way from the call that makes it, `check_nan()`, to the `with` that switches it on.
IValue handlerValue(std::unique_ptr<Handler> handler);

// Takes the handler out of such a value; an Error where it is none, as in assembled bytecode.
std::unique_ptr<Handler> takeHandler(const IValue& value);

// The same for what a device's backend switches on, `stream()`; null where the value is none.
std::unique_ptr<DeviceScope> takeDeviceScope(const IValue& value);

// The names of a device's scopes.
inline constexpr std::string_view kDeviceScopes[] = {"stream", "cuda_graph"};

// What the built-in is called that makes handlers of kind [name]: "with.check_nan".
std::string handlerBuiltin(std::string_view name);

}  // namespace boxcar::interp
