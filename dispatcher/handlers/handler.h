#pragma once

#include <boxcar/dispatcher/call/mode.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>

namespace boxcar {

// A boxed handler for all operators, with the data it collects: a tracer, a profiler, a checker. One object can be
// switched on by any number of threads, each for a scope:
//
//   Profiler profiler;
//   {
//     const HandlerGuard on(profiler);
//     model(x);
//   }
//   profiler.finish();
//
// handler_kinds.h finds handlers by name, for scripts and command lines.
class BOXCAR_API Handler {
 public:
  virtual ~Handler() = default;

  // Serves one call in place of what lies below: takes the arguments off [stack] and pushes the results. Called on the
  // threads that make the calls, several at a time; exceptions go to the caller.
  virtual void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) = 0;

  // How it is switched on: by default as a mode at PreDispatch.
  virtual ModeOptions modeOptions() const { return {}; }
  // Switches it on for this thread while the returned object lives; by default with a ModeGuard.
  virtual std::shared_ptr<void> enter();

  // Call it once, when no thread has the handler on any more. Writes its files and returns text for the user, or "".
  // [failed] says whether the code that ran under it ended with an error. Throws Error, for example if a file cannot be
  // written.
  virtual std::string finish(bool failed) = 0;
};

// Switches [handler] on for this thread while it lives. Must be destroyed on the thread that made it, and not by the
// handler itself.
class BOXCAR_API HandlerGuard final {
 public:
  explicit HandlerGuard(Handler& handler) : guard_(handler.enter()) {}

 private:
  std::shared_ptr<void> guard_;
};

}  // namespace boxcar
