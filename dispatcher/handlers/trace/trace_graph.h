#pragma once

#include <boxcar/dispatcher/call/script_view.h>
#include <boxcar/dispatcher/handlers/trace/trace_fold.h>

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxcar::detail {

// The calls of a trace as a graph in Graphviz's language: which call made a tensor, and which took it. Tensors from
// outside, such as weights, are shown inside the calls that take them; functions of the script are boxes around their
// calls.
class TraceGraph final {
 public:
  // A tensor that a call takes: its name, and the label of the edge.
  struct Use {
    std::string name;
    std::string label;
    bool is_written = false;
  };
  struct Call {
    std::string op;
    std::vector<CallFrame> path;  // through the script's functions
    bool is_view = false;         // its results may share memory with its arguments
  };

  // Adds a tensor from outside; users see it as [title].
  void addOutside(const std::string& name, const std::string& title);
  // Adds a call; [results] are the names of the tensors that it made.
  void addCall(const Call& call, std::span<const Use> uses, std::span<const std::string> results);
  // Adds a call that acts outside, such as a print, with what it uses.
  void addEffect(const Call& call, std::span<const Use> uses);

  // Returns the graph. With [folds], repeated calls are drawn once, with a count; if the graph is still large,
  // functions are drawn as one box each.
  std::string dot(bool folds) const;

 private:
  // The origin of a tensor's elements: a call, or outside.
  struct Maker {
    bool is_outside;
    size_t node;
    std::string title;
  };
  struct Edge {
    size_t from;
    size_t to;
    std::string label;
  };

  size_t addNode(const Call& call, bool is_effect, std::span<const Use> uses);

  std::vector<TraceNode> nodes_;
  std::vector<Edge> edges_;
  std::unordered_map<std::string, Maker> makers_;
};

}  // namespace boxcar::detail
