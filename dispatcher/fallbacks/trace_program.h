#pragma once

#include <boxcar/dispatcher/fallbacks/drawn_from.h>
#include <boxcar/dispatcher/fallbacks/trace_graph.h>
#include <boxcar/dispatcher/fallbacks/trace_keys.h>
#include <boxcar/dispatcher/fallbacks/trace_names.h>
#include <boxcar/dispatcher/fallbacks/trace_needs.h>
#include <boxcar/dispatcher/fallbacks/trace_outside.h>
#include <boxcar/dispatcher/fallbacks/trace_text.h>
#include <boxcar/dispatcher/operator_handle.h>
#include <boxcar/ivalue/dict.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace boxcar::detail {

// A run as a program, which grows call by call. Not for several threads at once.
class TraceProgram final {
 public:
  explicit TraceProgram(bool has_graph);

  // What a call was given, looked at before it runs.
  struct Call {
    OperatorHandle op;
    TraceText text;
    std::vector<Outside> outside;
    // Storages that were written by what is not in the trace, with their elements.
    std::vector<Outside> rewritten;
    // That the operator draws from, or else would draw from without the trace's knowing.
    Generator generator;
    bool is_random;
    GeneratorState drawn_from;             // where that one stood
    std::vector<std::string> edge_labels;  // of the text's tensors, where there is a graph
    std::string effect;                    // what the graph shows of a call that acts outside
    std::vector<CallFrame> path;           // that led to it, where there is a graph
  };

  // Whether a call of [op] is written down: those that read what lies outside are not, and what they give is from
  // outside of the trace.
  bool tells(const OperatorHandle& op);
  // Says what a call that is not written down has read, from the file at [path] where it has such an argument.
  void noteRead(std::span<const IValue> results, std::string_view path);
  // An Error where an argument cannot be written in a script. [keys] are those that the call goes on with.
  Call begin(const OperatorHandle& op, DispatchKeySet keys, std::span<const IValue> arguments);
  // Writes down a call that has run. What does not get here leaves no mark.
  void end(const Call& call, std::span<const IValue> results);

  // The program. [tensors_file] is where it finds savedTensors().
  std::string text(const std::string& tensors_file) const;
  // What it has from outside, by name.
  const Dict<std::string, Tensor>& savedTensors() const noexcept { return saved_; }
  bool isEmpty() const noexcept { return body_.empty(); }
  // How many values have names.
  size_t valueCount() const noexcept { return names_.count() + keys_.taken(); }
  // In Graphviz's language (trace_graph.h).
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
  std::string writeSaved(const Tensor& copy, const std::string& key);
  void writeRoot(const Outside& outside, const Call& call);
  void writeOutside(const Outside& outside, const Call& call);
  void writeRewritten(const Outside& outside, const Call& call);
  void writeRandomState(const Call& call);
  // What of a call's results got names.
  struct Named {
    std::vector<std::string> tensors;
    // Lines behind the call by which a script knows that what may be None is not.
    std::string checks;
  };
  // The text left of a call's "=": what its results are called. Empty where the trace has names for all of them.
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
  std::string body_;
  Dict<std::string, Tensor> saved_;
  // Where the default generators of who runs the trace stand, as far as that is known.
  std::vector<DrawnFrom> random_states_;
};

}  // namespace boxcar::detail
