#pragma once

#include <boxcar/dispatcher/script_view.h>

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
  bool gives_nothing = false;   // neither writes nor gives a tensor that is new, as size() does
  size_t stands_for = 0;        // the node that is drawn for it; itself where it is drawn
};

// What a graph draws: a call, a function's calls, or calls that repeat.
struct TraceItem {
  enum class Kind { Call, Function, Repeat };

  Kind kind = Kind::Call;
  size_t node = 0;    // of a call; of others the first one
  std::string title;  // of a function
  std::vector<TraceItem> inner;
  // How often it came, the fewest and the most where that differs.
  size_t fewest = 1, most = 1;
  bool is_closed = false;  // drawn as one box

  size_t calls() const;  // that it draws, closed or not
  // " ×3"; "" where it came once.
  std::string countText() const;
};

// [nodes], in their order, in the functions that made them; those that give nothing only where [all] are wanted.
TraceItem groupByFunction(const std::vector<TraceNode>& nodes, bool all);

// Folds what repeats: three times, or twice where it is more than a few calls. The first ones stand for the others.
void foldRepeats(TraceItem& item, std::vector<TraceNode>& nodes);

// Closes functions, the innermost ones first, until no more than [most] boxes are drawn or none is left.
void closeFunctions(TraceItem& item, size_t most);

// What two texts have in common: "layer*.weight".
std::string commonText(const std::string& a, const std::string& b);

}  // namespace boxcar::detail
