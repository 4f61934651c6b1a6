#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/gradient_graph.h>
#include <boxcar/backends/autograd/history.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace boxcar::autograd {
namespace {

constinit thread_local const BackwardObserver* backward_observer = nullptr;

GradientVertex vertexOf(const Edge& target) {
  GradientVertex vertex;
  if (const Node* const node = target.node()) {
    vertex.name = node->name();
    vertex.call = callOf(*node);
    vertex.shapes.assign(node->outputShapes().begin(), node->outputShapes().end());
  } else {
    vertex.shapes.emplace_back(Tensor(IntrusivePtr<TensorImpl>::share(target.leaf())));
  }
  return vertex;
}

// Finds what roots lead to, nearest first. Chains may be long, so it does not recurse.
class GraphWalk final {
 public:
  size_t numberOf(const Edge& edge) {
    const Object* const target = edge.node() != nullptr ? static_cast<const Object*>(edge.node()) : edge.leaf();
    const auto [place, is_new] = numbers_.try_emplace(target, targets_.size());
    if (is_new) targets_.push_back(edge);
    return place->second;
  }

  GradientGraph graph(size_t most) {
    GradientGraph graph;
    for (size_t next = 0; next < targets_.size(); ++next) {
      const Edge target = targets_[next];  // the list grows
      if (next < most) graph.vertices.push_back(vertexOf(target));
      if (target.node() == nullptr) continue;
      for (const Edge& edge : target.node()->edges()) {
        if (!edge.is_valid()) continue;
        if (const size_t to = numberOf(edge); std::max(next, to) < most) {
          graph.arrows.push_back({next, to, edge.output_nr()});
        }
      }
    }
    graph.all = targets_.size();
    return graph;
  }

 private:
  std::vector<Edge> targets_;
  std::unordered_map<const Object*, size_t> numbers_;
};

}  // namespace

GradientGraph gradientGraph(TensorList roots, size_t most) {
  GraphWalk walk;
  size_t root_count = 0;
  for (const Tensor& root : roots) {
    if (root.requires_grad()) root_count = std::max(root_count, walk.numberOf(gradientEdge(root)) + 1);
  }
  GradientGraph graph = walk.graph(most);
  for (size_t i = 0; i < std::min(root_count, graph.vertices.size()); ++i) graph.vertices[i].is_root = true;
  return graph;
}

BackwardObserverGuard::BackwardObserverGuard(BackwardObserver observe)
    : observe_(std::move(observe)), outer_(std::exchange(backward_observer, &observe_)) {}

BackwardObserverGuard::~BackwardObserverGuard() { backward_observer = outer_; }

void noteBackward(TensorList roots) {
  if (backward_observer != nullptr) [[unlikely]]
    (*backward_observer)(roots);
}

}  // namespace boxcar::autograd
