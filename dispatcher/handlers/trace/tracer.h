#pragma once

#include <boxcar/dispatcher/handlers/handler.h>
#include <boxcar/dispatcher/handlers/handler_kinds.h>
#include <boxcar/dispatcher/handlers/trace/traced_function.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/storage.h>
#include <boxcar/schema/function_object.h>

#include <memory>
#include <span>
#include <string>

namespace boxcar {

struct TracerOptions {
  // Whether graph() will be called.
  bool has_graph = false;
  // Whether calls of `backward` and its like are written as they are. Otherwise the program has the calls that they
  // make, so that it differentiates nothing.
  bool keeps_backward = false;
  // Whether tracedFunction() will be called.
  bool keeps_calls = false;
};

// Writes what runs as a program: one line of .ops text for each operator call. Its tensors are named t0, t1 and so on,
// and its other values are constants. The program runs on its own, `boxcar run trace.ops`, and computes the same, bit
// for bit.
//
//   Tracer tracer("model.ops");
//   {
//     const HandlerGuard on(tracer);
//     y = model(x);
//   }
//   tracer.finish(false);
//
// For operators whose kernel is a script, the trace has the calls in them instead. Tensors that come from elsewhere,
// such as x or what operators read from files, are stored beside the program in a safetensors file whose name depends
// on its contents. The tracer runs at DispatchKey::Tracer, where no one else may have a fallback at that time: above
// autograd and Python modes, below PreDispatch modes and autocast. If several threads have it on at the same time,
// calls are written in the order in which they end.
class BOXCAR_API Tracer final : public Handler {
 public:
  // Opens the file at [path]. Throws Error if it cannot be written. With an empty [path] no program is written: graph()
  // shows what ran.
  explicit Tracer(const std::string& path, TracerOptions options = {});
  ~Tracer() override;

  void call(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) override;
  // Throws Error if DispatchKey::Tracer already has another fallback.
  std::shared_ptr<void> enter() override;
  // Writes the program and its tensors, also for a run that failed: the program then ends before the call that failed.
  // Writes no file for a run that failed before its first call.
  std::string finish(bool failed) override;

  // Makes everything that was written to [storages] so far part of the trace: what it shows calls of computes the same.
  void noteWrites(std::span<const Storage> storages);

  // Switches the tracer on for one call of [function], with its arguments, the last values of [stack], which it
  // replaces by the results. The program is then that function: its parameters are the function's, its inputs the
  // tensors in them, and its results have the same structure. It is a tracer's only use. Throws what the call throws,
  // and Error for results that a script cannot write; finish() then writes nothing.
  void callFunction(const FunctionObject& function, Stack& stack);
  // Returns that call. It must have been kept (TracerOptions).
  const TracedFunction& tracedFunction() const;

  // Whether calls of operators with the tag `differentiation` are written.
  bool keepsBackward() const noexcept;
  // Whether no call was written.
  bool isEmpty() const;

  // Returns what ran as a graph, in Graphviz's language: calls are boxes, which name the tensors from elsewhere that
  // they take, and functions of a script are frames around their calls. With [folds], repeated calls are drawn once,
  // with a count; if the graph is still large, functions become boxes too.
  std::string graph(bool folds = true) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

extern const HandlerKind kTraceKind;

}  // namespace boxcar
