#pragma once

#include <boxcar/dispatcher/handlers/drawn_from.h>
#include <boxcar/dispatcher/handlers/trace/trace_function.h>
#include <boxcar/dispatcher/handlers/trace/trace_graph.h>
#include <boxcar/dispatcher/handlers/trace/trace_keys.h>
#include <boxcar/dispatcher/handlers/trace/trace_names.h>
#include <boxcar/dispatcher/handlers/trace/trace_needs.h>
#include <boxcar/dispatcher/handlers/trace/trace_outside.h>
#include <boxcar/dispatcher/handlers/trace/trace_text.h>
#include <boxcar/dispatcher/handlers/trace/traced_function.h>
#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/dict.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::detail {

// A run as a program, which grows call by call. Not thread-safe.
class TraceProgram final {
 public:
  TraceProgram(bool has_graph, bool keeps_backward);

  // What a call was given, captured before it runs.
  struct Call {
    OperatorHandle op;
    TraceText text;
    std::vector<Outside> outside;
    // Storages that something outside of the trace wrote, with their elements.
    std::vector<Outside> rewritten;
    // The generator that the operator draws from, or might draw from unknown to the trace.
    Generator generator;
    bool is_random;
    GeneratorState drawn_from;             // the state of that generator
    std::vector<std::string> edge_labels;  // of the text's tensors, if there is a graph
    bool is_recorded = true;               // for differentiation
    std::string effect;                    // what the graph shows of a call that acts outside
    std::vector<CallFrame> path;           // the path that led to it, if there is a graph or a function
    std::vector<IValue> arguments;         // for the calls of a function that are kept
  };

  // Whether a call of [op] is written to the trace. Operators that read from outside are not; their results come from
  // outside of the trace.
  bool tells(const OperatorHandle& op);
  // Notes what a call that is not in the trace has read, from the file at [path] if it has such an argument.
  void noteRead(std::span<const IValue> results, std::string_view path);
  // Makes what was written to [storage] so far part of the trace.
  void noteWrite(const Storage& storage) { names_.update(storage); }
  // Throws Error if an argument cannot be written in a script. [keys] are those with which the call goes on.
  Call begin(const OperatorHandle& op, DispatchKeySet keys, std::span<const IValue> arguments);
  // Writes a call that has run. A call that does not get here leaves no trace.
  void end(const Call& call, std::span<const IValue> results);

  // Makes what follows a call of the function of [schema] with [arguments], whose tensors are the trace's inputs. With
  // [keeps_calls], tracedFunction() has its calls. Throws Error if one tensor is passed twice.
  void beginFunction(const FunctionSchema& schema, std::span<const IValue> arguments, bool keeps_calls);
  // Throws Error if a result cannot be written in a script.
  void endFunction(std::span<const IValue> results);
  bool isFunction() const noexcept { return function_.has_value(); }
  // Null unless the calls of a function are kept.
  const TracedFunction* tracedFunction() const noexcept { return kept_ ? &*kept_ : nullptr; }

  // Returns the program. [tensors_file] is where it finds savedTensors().
  std::string text(const std::string& tensors_file) const;
  // The tensors that it gets from outside, by name.
  const Dict<std::string, Tensor>& savedTensors() const noexcept { return saved_; }
  bool isEmpty() const noexcept { return body_.empty(); }
  // The number of values that have names.
  size_t valueCount() const noexcept { return names_.count() + keys_.taken(); }
  // Returns the graph in Graphviz's language (trace_graph.h).
  std::string dot(bool folds) const;

 private:
  struct OperatorFacts {
    std::string callee;
    bool is_random;
    bool acts_outside;
  };

  const OperatorFacts& factsOf(const OperatorHandle& op);
  void look(const Tensor& tensor, Call& call);
  static void lookAtRandomState(std::span<const IValue> arguments, Call& call);

  void writeLine(const std::string& line);
  // Begins or ends `with no_grad()` before a call.
  void writeGradMode(bool is_recorded);
  // [storage] is that of the tensor itself.
  std::string writeSaved(const Tensor& copy, const std::string& key, const Storage& storage);
  void keepWeight(const Outside& outside);
  void keepCall(const Call& call, std::span<const IValue> results);
  std::string functionText(const std::string& tensors_file) const;
  void writeRoot(const Outside& outside, const std::vector<CallFrame>& path);
  // Writes how a tensor from outside is made, and then what is lazily conjugated or negated of it.
  void writeOutside(const Outside& outside, const std::vector<CallFrame>& path);
  // Writes the calls that make [to] of [from], which has the same memory and other lazy conjugates or negatives.
  void writeBits(const Tensor& from, const Tensor& to, const std::vector<CallFrame>& path);
  // Writes how a memory that the trace knows is seen as elements of [dtype]; returns the name of that.
  std::string writeAs(ScalarType dtype, const Storage& storage, const std::vector<CallFrame>& path);
  void writeStored(const Outside& outside, const std::vector<CallFrame>& path);
  void writeRewritten(const Outside& outside, const Call& call);
  void writeRandomState(const Call& call);
  // The results of a call that got names.
  struct Named {
    std::vector<std::string> tensors;
    // Lines after the call that tell a script that a value that may be None is not.
    std::vector<std::string> checks;
  };
  // Returns the text to the left of a call's "=": the names of its results. Empty if the trace already has names for
  // all of them.
  std::string nameResults(const Call& call, std::span<const IValue> results, Named& named);
  std::string derivedName(const Call& call);
  void nameInside(const IValue& value, TypePtr type, std::string name, Named& named);
  bool hasNew(const IValue& value, int depth = 0) const;
  void update(const IValue& value, int depth = 0);

  TraceNames names_;
  TraceKeys keys_;
  TraceNeeds needs_;
  std::optional<TraceGraph> graph_;
  std::unordered_map<OperatorHandle, OperatorFacts> facts_;
  const bool keeps_backward_;
  bool is_in_no_grad_ = false;
  std::string body_;
  std::optional<TraceFunction> function_;
  std::optional<TracedFunction> kept_;
  size_t unnamed_weights_ = 0;  // of a function
  Dict<std::string, Tensor> saved_;
  // The states of the default generators when the trace runs, as far as they are known.
  std::vector<DrawnFrom> random_states_;
};

}  // namespace boxcar::detail
