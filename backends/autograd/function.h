#pragma once

#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/node.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Functions with a derivative that is written by hand. Names and rules are those of torch::autograd::Function.

namespace boxcar::autograd {

using variable_list = std::vector<Tensor>;

// What the forward of one call leaves to its backward.
class BOXCAR_API AutogradContext final {
 public:
  // Keeps inputs and outputs of forward(). To write them before backward() reads them is an Error there.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  // Throws Error if one was written since, or if the graph was freed.
  variable_list get_saved_variables() const;
  // Keeps other values, and tensors that are neither inputs nor outputs.
  std::map<std::string, IValue> saved_data;

  // Says that forward() wrote these inputs in place; it must return them.
  void mark_dirty(variable_list inputs) { dirty_ = std::move(inputs); }
  // Says that these outputs have no gradient.
  void mark_non_differentiable(variable_list outputs) { non_differentiable_ = std::move(outputs); }
  // Whether backward() gets zeros for outputs that got no gradient, which is so at first, or undefined tensors.
  void set_materialize_grads(bool value) noexcept { materialize_grads_ = value; }
  // Whether somebody needs the gradient of argument [index] of forward().
  bool needs_input_grad(size_t index) const;

 private:
  friend class FunctionNode;

  variable_list to_save_;
  variable_list dirty_;
  variable_list non_differentiable_;
  bool materialize_grads_ = true;
  std::vector<SavedValue> saved_;
  class FunctionNode* node_ = nullptr;
};

// The node of such a call.
class BOXCAR_API FunctionNode final : public Node {
 public:
  using Backward = std::function<variable_list(AutogradContext* context, variable_list grad_outputs)>;

  FunctionNode(std::string name, Backward backward) noexcept : name_(std::move(name)), backward_(std::move(backward)) {}

  std::string name() const override { return name_; }
  Gradients apply(Gradients grad_outputs) override;
  void freeSaved() noexcept override;

  AutogradContext& context() noexcept { return context_; }
  // Each adds an argument of forward(): a tensor, each tensor of a list, or a value without gradient.
  void addArgument(const Tensor& tensor);
  void addArgument(const std::optional<Tensor>& tensor) { addArgument(tensor.value_or(Tensor())); }
  void addArgument(TensorList tensors);
  void addArgument(const variable_list& tensors) { addArgument(TensorList(tensors)); }
  // Adds what leads to a tensor that forward() uses without taking it; backward() also returns its gradient.
  void addCaptured(Edge edge);
  template <class Other>
  void addArgument(const Other&) {
    edge_of_argument_.push_back(kNoEdge);
  }
  // The function's forward() computes the tangents of its outputs itself, as its operators are called. Without this,
  // they are computed by its backward(). To be called before arguments are added.
  void leaveTangents() noexcept { leaves_tangents_ = true; }
  // Whether an argument requires grad, or has a tangent.
  bool isWanted() const noexcept;
  // Gives the outputs of forward() their history, if isWanted().
  variable_list finish(variable_list outputs);

 private:
  friend class AutogradContext;
  static constexpr uint32_t kNoEdge = UINT32_MAX;

  variable_list withHistory(const variable_list& outputs);
  void save(const variable_list& returned, const variable_list& outputs);
  void computeTangents(const variable_list& outputs);

  std::string name_;
  Backward backward_;
  AutogradContext context_;
  variable_list inputs_;  // while forward() runs
  std::vector<uint32_t> edge_of_argument_;
  bool has_history_ = false;  // an argument requires grad
  bool has_tangents_ = false;
  bool leaves_tangents_ = false;
};

// A user's function, a class of its own:
//
//   struct Cube : Function<Cube> {
//     static Tensor forward(AutogradContext* context, const Tensor& x) {
//       context->save_for_backward({x});
//       return boxcar::pow(x, 3);
//     }
//     // Returns a gradient for each argument of forward(), undefined for numbers and the like.
//     static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
//       const Tensor x = context->get_saved_variables()[0];
//       return {boxcar::mul(grad_outputs[0], boxcar::mul(boxcar::mul(x, x), 3))};
//     }
//   };
//   Tensor y = Cube::apply(x);
//
// forward() is not recorded, and backward() also gives the tangents of func::jvp(). forward() returns a Tensor or a
// variable_list. A backward() made of operators that can be differentiated can be differentiated, too.
template <class T>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    const IntrusivePtr<FunctionNode> node = makeIntrusive<FunctionNode>(std::string(functionName()), &T::backward);
    (node->addArgument(args), ...);
    const auto outputs = [&] {
      const AutoGradMode mode(false);
      const OuterForwardLevels none(0);
      return T::forward(&node->context(), std::forward<Args>(args)...);
    }();
    if constexpr (std::is_same_v<std::remove_cv_t<decltype(outputs)>, Tensor>) {
      return node->finish({outputs})[0];
    } else {
      return node->finish(outputs);
    }
  }

 private:
  // The name of T without its namespaces, with "Backward": as PyTorch calls such nodes.
  static std::string functionName() { return nodeNameOf(__PRETTY_FUNCTION__); }
  static std::string nodeNameOf(std::string_view signature) {
    const size_t begin = signature.find("T = ") + 4;
    std::string_view name = signature.substr(begin, signature.find_first_of(";]", begin) - begin);
    if (const size_t scope = name.rfind("::"); scope != std::string_view::npos) name.remove_prefix(scope + 2);
    return std::string(name) + "Backward";
  }
};

}  // namespace boxcar::autograd
