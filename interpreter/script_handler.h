#pragma once

#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/interpreter/executable.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace boxcar::interp {

// Held while the body of a handler runs, or a mode's exit: bodies that several threads enter run one at a time, those
// of all programs, so that no two wait for each other.
std::unique_lock<std::recursive_mutex> lockHandlers();

// The handler of a ModeGuard that runs the body of a script's mode.
class ScriptModeHandler final {
 public:
  ScriptModeHandler(std::shared_ptr<const Executable> program, uint32_t handler)
      : program_(std::move(program)), handler_(handler) {}
  void operator()(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) const;

 private:
  std::shared_ptr<const Executable> program_;
  uint32_t handler_;
};

// Makes an `impl` or a `fallback` of the program take effect, as long as the program is loaded; what it registered
// before goes. Throws Error where it contradicts what is registered.
void registerHandler(const Executable& program, uint32_t handler);

// What a handler's body calls: the list of results of [op] with [arguments], a list, from the kernels and modes that
// lie below the handler that runs. With [nested] these see its key or mode, too. An Error outside of a handler's body.
IValue redispatch(const OperatorHandle& op, const IValue& arguments, bool nested);

}  // namespace boxcar::interp
