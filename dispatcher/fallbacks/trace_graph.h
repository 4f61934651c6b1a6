#pragma once

#include <boxcar/dispatcher/fallbacks/trace_fold.h>
#include <boxcar/dispatcher/script_view.h>

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace boxcar::detail {

// The calls of a trace as a graph in Graphviz's language: what made a tensor, and who took it. Tensors from outside,
// such as weights, stand inside of the calls that take them; functions of the script are boxes around their calls.
class TraceGraph final {
 public:
  // A tensor that a call takes: its name, and what is written at the edge.
  struct Use {
    std::string name;
    std::string label;
    bool is_written = false;
  };
  struct Call {
    std::string op;
    std::vector<CallFrame> path;  // of the script's functions
    bool is_view = false;         // what it gives may share memory with what it gets
  };

  // A tensor from outside, [title] to people.
  void addOutside(const std::string& name, const std::string& title);
  // A call; [results] are the names of the tensors that it made.
  void addCall(const Call& call, std::span<const Use> uses, std::span<const std::string> results);
  // A call that acts outside, such as a print, with what it does.
  void addEffect(const Call& call, std::span<const Use> uses);

  // [folds]: what repeats is drawn once, with a count; where there is still much, functions are drawn as one box each.
  std::string dot(bool folds) const;

 private:
  // What a tensor's elements come from: a call, or outside.
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
