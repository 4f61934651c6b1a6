#pragma once

#include <boxcar/dispatcher/fallbacks/handler.h>
#include <boxcar/dispatcher/fallbacks/handler_kinds.h>
#include <boxcar/ivalue/macros.h>

#include <memory>
#include <string>

namespace boxcar {

struct TracerOptions {
  // Whether graph() will be asked for.
  bool has_graph = false;
};

// Writes down what runs as a program: one line of .ops text for each operator call, whose tensors have the names t0, t1
// and so on and whose other values are constants. The program runs by itself, `boxcar run trace.ops`, and computes the
// same, bit for bit.
//
//   Tracer tracer("model.ops");
//   {
//     const HandlerGuard on(tracer);
//     y = model(x);
//   }
//   tracer.finish(false);
//
// Operators that scripts compute are not in it, but the calls in them. Tensors that come from elsewhere, such as x or
// what operators read from files, lie beside the program in a safetensors file that is named by what it holds.
// It stands at DispatchKey::Tracer, for which nobody else may have a fallback at that time: above autograd and Python
// modes, below PreDispatch modes and autocast. Threads that have it on at the same time are written down in the order
// in which their calls end.
class BOXCAR_API Tracer final : public Handler {
 public:
  // Opens the file at [path]. An Error where that cannot be written.
  explicit Tracer(const std::string& path, TracerOptions options = {});
  ~Tracer() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  // An Error where somebody else has a fallback at DispatchKey::Tracer.
  std::shared_ptr<void> enter() override;
  // Writes the program and its tensors, also of a run that failed: it then ends before the call that did. Of one that
  // failed before it called anything no file is written.
  std::string finish(bool failed) override;
  // Whether no call was written down.
  bool isEmpty() const;

  // What ran as a graph, in Graphviz's language: calls are boxes, which name the tensors from elsewhere that they take,
  // and functions of a script are frames around theirs. [folds]: what repeats is drawn once, with a count, and where
  // much is left functions are boxes, too.
  std::string graph(bool folds = true) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

extern const HandlerKind kTraceKind;

}  // namespace boxcar
