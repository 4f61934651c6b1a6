#pragma once

#include <boxcar/dispatcher/call/scope.h>
#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/ivalue/ivalue.h>

#include <memory>
#include <string>
#include <string_view>

namespace boxcar::interp {

// Wraps a handler while it passes from the call that makes it, `check_nan()`, to the `with` that switches it on.
IValue handlerValue(std::unique_ptr<Handler> handler);

// Takes the handler out of such a value; throws Error if it holds none, which assembled bytecode can cause.
std::unique_ptr<Handler> takeHandler(const IValue& value);

// Takes out what a backend switches on, such as `no_grad()`; null if the value holds none.
std::unique_ptr<Scope> takeScope(const IValue& value);

// Returns the name of the built-in that makes handlers or scopes of kind [name]: "with.check_nan".
std::string handlerBuiltin(std::string_view name);

}  // namespace boxcar::interp
