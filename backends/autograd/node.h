#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/intrusive_ptr.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ivalue/weak_ptr.h>
#include <boost/container/small_vector.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::autograd {

class Node;

// Where a gradient goes: to a result of the call that a node is the backward of, or to a leaf, which accumulates it.
class BOXCAR_API Edge final {
 public:
  // Leads nowhere: nobody needs the gradient.
  Edge() noexcept = default;
  Edge(IntrusivePtr<Node> node, uint32_t output_nr) noexcept;
  explicit Edge(const Tensor& leaf) noexcept;

  bool is_valid() const noexcept { return target_.defined(); }
  // Null for a leaf.
  Node* node() const noexcept;
  // Null for a node.
  TensorImpl* leaf() const noexcept;
  // Which of the node's results.
  uint32_t output_nr() const noexcept { return output_nr_; }

 private:
  IntrusivePtr<Object> target_;
  uint32_t output_nr_ = 0;
  bool is_leaf_ = false;
};

// What a gradient must look like: the tensor that it is the gradient of.
struct GradientShape {
  // [tensor] may be undefined: there will be no gradient then.
  explicit GradientShape(const Tensor& tensor) : dtype(ScalarType::Float), device(DeviceType::CPU) {
    if (!tensor.defined()) return;
    sizes = toDimVector(tensor.sizes());
    dtype = tensor.scalar_type();
    device = tensor.device();
  }

  DimVector sizes;
  ScalarType dtype;
  Device device;
};

// One for each result or input of a call; undefined where there is none.
using Gradients = boost::container::small_vector<Tensor, 4>;

// Gets the gradient of a tensor. May return another; an undefined tensor keeps the one it got.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
// Run before and after a node; may change the gradients in place.
using NodePreHook = std::function<void(Gradients& grad_outputs)>;
using NodePostHook = std::function<void(Gradients& grad_inputs, const Gradients& grad_outputs)>;

// Hooks with the numbers by which they are removed.
template <class Hook>
class HookList final {
 public:
  void add(uint64_t number, Hook hook) { hooks_.emplace_back(number, std::make_shared<Hook>(std::move(hook))); }
  void remove(uint64_t number) {
    std::erase_if(hooks_, [&](const auto& each) { return each.first == number; });
  }
  bool empty() const noexcept { return hooks_.empty(); }
  // Calls [run] with each hook, in the order in which they were added. Hooks may add and remove hooks.
  template <class Run>
  void forEach(const Run& run) const {
    const auto hooks = hooks_;
    for (const auto& each : hooks) run(*each.second);
  }

 private:
  std::vector<std::pair<uint64_t, std::shared_ptr<Hook>>> hooks_;
};

// One step of a backward pass: from the gradients of a call's results to those of its inputs.
class BOXCAR_API Node : public Object {
 public:
  Node() noexcept;
  ~Node() override;

  // "MulBackward".
  virtual std::string name() const = 0;
  // Returns a gradient for each edge, undefined where there is none. An undefined gradient of a result stands for
  // zeros; at least one is defined.
  virtual Gradients apply(Gradients grad_outputs) = 0;
  // Drops the saved tensors. To apply it later is then an Error that says so.
  virtual void freeSaved() noexcept {}

  using Edges = boost::container::small_vector<Edge, 3>;
  const Edges& edges() const noexcept { return edges_; }
  void addEdge(Edge edge) { edges_.push_back(std::move(edge)); }

  using OutputShapes = boost::container::small_vector<GradientShape, 1>;
  const OutputShapes& outputShapes() const noexcept { return output_shapes_; }
  // Adds a result of the call, which may be undefined, and returns its number.
  uint32_t addOutput(const Tensor& result);

  // Of two nodes that may run, the one with the higher number does. It was made later, if on the same thread.
  uint64_t sequence_nr() const noexcept { return sequence_nr_; }

  // What runs beside the node, in the order of these members.
  struct Hooks {
    // Of a tensor that is result [output_nr].
    struct OfResult {
      uint32_t output_nr;
      TensorHook run;
    };
    HookList<OfResult> results;
    // Tensors that keep the gradient that arrives.
    std::vector<std::pair<uint32_t, WeakIntrusivePtr<TensorImpl>>> retaining;
    // The call that made the node, if AnomalyMode was on: "aten::mul at train.ops:3".
    std::string call;
    HookList<NodePreHook> pre;
    HookList<NodePostHook> post;
  };
  // Null if there are none.
  Hooks* hooks() const noexcept { return hooks_.get(); }
  Hooks& findOrMakeHooks();

  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

 protected:
  // Chains of nodes are freed one after the other, without recursion.
  void dispose() noexcept override;

 private:
  friend class GraphTask;

  uint64_t sequence_nr_;
  Edges edges_;
  OutputShapes output_shapes_;
  std::unique_ptr<Hooks> hooks_;
  // Of the backward pass that claimed the node: its number, and the node's number in it. Other passes that visit it at
  // the same time keep the node's number elsewhere.
  std::atomic<uint64_t> claiming_pass_{0};
  uint32_t number_in_pass_ = 0;
};

inline Node* Edge::node() const noexcept { return is_leaf_ ? nullptr : static_cast<Node*>(target_.get()); }
inline TensorImpl* Edge::leaf() const noexcept { return is_leaf_ ? static_cast<TensorImpl*>(target_.get()) : nullptr; }

}  // namespace boxcar::autograd
