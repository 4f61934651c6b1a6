#pragma once

#include <boxcar/dispatcher/mode.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>

namespace boxcar {

// A boxed handler for every operator there is, with what it gathers: a tracer, a profiler, a checker. It is one object
// that any number of threads switch on, each for a scope:
//
//   Profiler profiler;
//   {
//     const HandlerGuard on(profiler);
//     model(x);
//   }
//   profiler.finish();
//
// Handlers are found by their names, for scripts and command lines, in handler_kinds.h.
class BOXCAR_API Handler {
 public:
  virtual ~Handler() = default;

  // Serves one call in the place of what lies below: takes the arguments off [stack], pushes the results. Called on
  // the threads that make the calls, several at a time; what is thrown goes to the caller.
  virtual void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) = 0;

  // How it is switched on: as a mode at PreDispatch, unless this says otherwise.
  virtual ModeOptions modeOptions() const { return {}; }
  // Switches it on for this thread as long as what it gives lives: by a ModeGuard, unless a handler knows better.
  virtual std::shared_ptr<void> enter();

  // To be called once, when no thread has it on any more: writes its files and gives what people are to read, or "".
  // [failed]: what ran under it ended with an error. Throws Error, as where a file cannot be written.
  virtual std::string finish(bool failed) = 0;
};

// Switches [handler] on for this thread while it lives; on the thread that made it, and not by the handler itself.
class BOXCAR_API HandlerGuard final {
 public:
  explicit HandlerGuard(Handler& handler) : guard_(handler.enter()) {}

 private:
  std::shared_ptr<void> guard_;
};

}  // namespace boxcar
