#pragma once

#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// What a backward pass differentiates, as data that can be drawn.

namespace boxcar::autograd {

// A node, or a leaf.
struct GradientVertex {
  std::string name;                   // "MulBackward0"; empty for a leaf
  std::string call;                   // what made the node, if AnomalyMode was on: "aten::mul at train.ops:3: `x * y`"
  std::vector<GradientShape> shapes;  // of the call's results, or of the leaf
  bool is_root = false;
};

// Where a gradient goes: from a node's input to the result of a call, or to a leaf.
struct GradientArrow {
  size_t from;
  size_t to;
  uint32_t output_nr;
};

struct GradientGraph {
  // Those nearer to the roots come first.
  std::vector<GradientVertex> vertices;
  // Those from one vertex are neighbours, in the order of its inputs.
  std::vector<GradientArrow> arrows;
  // How many vertices there are, with those that were left out.
  size_t all = 0;
};

// Returns the graph that [roots] lead to, which need not require grad. Of more than [most] vertices only those nearest
// to the roots are returned, and the arrows between them.
BOXCAR_API GradientGraph gradientGraph(TensorList roots, size_t most);

// Is called with the tensors that a backward pass begins at, before it runs.
using BackwardObserver = std::function<void(TensorList roots)>;

// While it lives, [observe] is called for the backward passes that its thread begins. Of several guards only the
// innermost counts.
class BOXCAR_API BackwardObserverGuard final {
 public:
  explicit BackwardObserverGuard(BackwardObserver observe);
  ~BackwardObserverGuard();
  BackwardObserverGuard(const BackwardObserverGuard&) = delete;
  BackwardObserverGuard& operator=(const BackwardObserverGuard&) = delete;

 private:
  const BackwardObserver observe_;
  const BackwardObserver* const outer_;
};

// Tells the thread's observer, if there is one.
void noteBackward(TensorList roots);

}  // namespace boxcar::autograd
