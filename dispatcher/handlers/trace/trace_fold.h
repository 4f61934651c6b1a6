#pragma once

#include <boxcar/dispatcher/call/script_view.h>

#include <cstddef>
#include <string>
#include <vector>

namespace boxcar::detail {

// A call as a graph shows it.
struct TraceNode {
  std::string title;
  std::vector<CallFrame> path;
  bool is_effect = false;
  struct Weight {
    size_t position;   // among the tensors that the call takes
    std::string name;  // "layer1.weight"
    std::string kind;  // "float32 [8, 8]"
  };
  std::vector<Weight> weights;  // and other tensors from outside
  bool gives_nothing = false;   // neither writes nor returns a new tensor, like size()
  size_t stands_for = 0;        // the node drawn in its place; itself if it is drawn
};

// An item that a graph draws: a call, a function's calls, or calls that repeat.
struct TraceItem {
  enum class Kind { Call, Function, Repeat };

  Kind kind = Kind::Call;
  size_t node = 0;    // the call; for other kinds their first call
  std::string title;  // of a function
  std::vector<TraceItem> inner;
  // How often it occurs: the minimum and the maximum if that differs.
  size_t fewest = 1, most = 1;
  bool is_closed = false;  // drawn as one box

  size_t calls() const;  // the number of calls in it, closed or not
  // " ×3"; "" if it occurs once.
  std::string countText() const;
};

// Groups [nodes], in their order, by the functions that made them; includes nodes that give nothing only if [all] is
// set.
TraceItem groupByFunction(const std::vector<TraceNode>& nodes, bool all);

// Folds calls that repeat three times, or twice if they are more than a few calls. The first ones stand for the others.
void foldRepeats(TraceItem& item, std::vector<TraceNode>& nodes);

// Closes functions, innermost first, until at most [most] boxes are drawn or none is left to close.
void closeFunctions(TraceItem& item, size_t most);

// Returns what two texts have in common: "layer*.weight".
std::string commonText(const std::string& a, const std::string& b);

}  // namespace boxcar::detail
