#pragma once

#include <boxcar/backends/autograd/node.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace boxcar::autograd {

// One backward pass: walks the graph from its roots, and runs each node after all nodes that give it gradients. Passes
// may run on several threads at once, and inside each other.
class GraphTask final {
 public:
  struct Options {
    bool keep_graph = false;        // keep the saved tensors for another pass
    bool create_graph = false;      // record the pass itself
    bool accumulate = true;         // add the leaves' gradients to their .grad
    bool ends_at_captures = false;  // do not go on from what is captured
  };

  explicit GraphTask(Options options) noexcept;
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  // Adds [gradient] of what [root] leads to.
  void addRoot(const Edge& root, const Tensor& gradient);
  // Keeps the gradient that arrives at [edge]; returns its number. With captures, only what leads to them runs.
  size_t capture(const Edge& edge);
  // Accumulates only in [leaf] and other leaves given so.
  void accumulateOnlyIn(const Edge& leaf);
  void run();
  // Undefined if the pass did not reach it.
  const Tensor& captured(size_t number) const noexcept { return captures_[number].gradient; }

 private:
  // A node, or a leaf, that the pass visits.
  struct Visit {
    IntrusivePtr<Object> target;
    bool is_leaf;
    bool is_needed = false;  // leads to what is wanted
    bool is_end = false;     // the pass does not go on from here
    uint32_t dependencies = 0;
    uint32_t first_buffer = 0;  // one for each result
    uint32_t buffers = 0;
    uint64_t priority = 0;

    Node& node() const noexcept { return static_cast<Node&>(*target); }
    TensorImpl& leaf() const noexcept { return static_cast<TensorImpl&>(*target); }
  };
  struct Capture {
    uint32_t visit;
    uint32_t output_nr;
    bool accumulates;
    Tensor gradient;
  };
  // Runs before others that are ready.
  struct Ready {
    uint64_t priority;
    uint32_t visit;
    bool operator<(const Ready& other) const noexcept { return priority < other.priority; }
  };

  uint32_t visitOf(const Edge& edge);
  uint32_t visitOf(std::atomic<uint64_t>& claiming_pass, uint32_t& number, const Edge& edge);
  uint32_t addVisit(const Edge& edge);
  void countDependencies();
  void findNeeded();
  void give(uint32_t visit, uint32_t output_nr, Tensor gradient);
  void markReady(uint32_t visit);
  void runNode(uint32_t number);
  // Applies [node]. Errors name the call that made it, if that is known.
  static Gradients applied(Node& node, Gradients gradients);
  void runLeaf(uint32_t number);
  void passOn(Node& node, Gradients gradients);
  // Returns [gradient] with the shape, dtype and device that [number]'s result [output_nr] has.
  Tensor fitted(Tensor gradient, uint32_t number, uint32_t output_nr, const Node& from, size_t input) const;

  Options options_;
  uint64_t pass_;
  std::vector<Visit> visits_;
  std::vector<Tensor> buffers_;
  std::vector<uint32_t> roots_;
  std::vector<Ready> ready_;  // a heap
  std::vector<Capture> captures_;
  // Of visits that another pass has claimed.
  std::unordered_map<const Object*, uint32_t> numbers_;
};

}  // namespace boxcar::autograd
