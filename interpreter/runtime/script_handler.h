#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/interpreter/runtime/executable.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace boxcar::interp {

// Held while the body of a handler or a mode's exit runs. Bodies that several threads enter run one at a time, across
// all programs, so no two can deadlock.
std::unique_lock<std::recursive_mutex> lockHandlers();

// The ModeGuard handler that runs the body of a script's mode.
class ScriptModeHandler final {
 public:
  ScriptModeHandler(std::shared_ptr<const Executable> program, uint32_t handler)
      : program_(std::move(program)), handler_(handler) {}
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const;

 private:
  std::shared_ptr<const Executable> program_;
  uint32_t handler_;
};

// Registers an `impl` or a `fallback` while the program is loaded; replaces what this handler registered before. Throws
// Error if it contradicts what is registered.
void registerHandler(const Executable& program, uint32_t handler);

// Throws Error if an argument of the call on [stack] has a key of representation_ks that is not among [keys]: the call
// would go past it. [what] names the function that makes the call.
void checkRepresentation(std::string_view what, const OperatorHandle& op, const Stack& stack, DispatchKeySet keys);

// Called by a handler's body: calls [op] with [arguments], a list, on the kernels and modes below the running handler,
// and returns the list of results. With [nested], these see the handler's key or mode, too. Throws Error outside of a
// handler's body, and if the call would go past what a tensor's memory stands for.
IValue redispatch(const OperatorHandle& op, const IValue& arguments, bool nested);

}  // namespace boxcar::interp
