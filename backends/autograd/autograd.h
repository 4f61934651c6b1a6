#pragma once

#include <boxcar/backends/autograd/node.h>
#include <boxcar/dispatcher/call/grad_mode.h>  // IWYU pragma: export
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <optional>
#include <span>
#include <vector>

// Differentiation of what was called on tensors that require grad. Names and arguments are those of torch::autograd.

namespace boxcar::autograd {

// Adds the gradient of the sum of [tensors] to the .grad of the leaves that they were made of. [grad_tensors] has the
// gradient of each tensor; it may be empty, or undefined for a tensor of one element, whose gradient is then 1. With
// [inputs], only these accumulate; those that are no leaves retain their gradient from then on. [retain_graph] keeps
// the graph for another pass, [create_graph] makes the gradients differentiable; the default of the former is the
// latter. A leaf and its differentiable .grad keep each other until setGrad() removes it; those of grad() do not.
// Throws Error if a tensor does not require grad, has several elements and no gradient, or if the graph was freed or a
// tensor that it needs was written.
BOXCAR_API void backward(TensorList tensors, TensorList grad_tensors = {}, std::optional<bool> retain_graph = {},
                         bool create_graph = false, TensorList inputs = {});

// Returns the gradient of the sum of [outputs] for each of [inputs], of its shape, and changes no .grad. An input that
// the outputs do not depend on is an Error, or with [allow_unused] an undefined gradient. Otherwise like backward().
BOXCAR_API std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList grad_outputs = {},
                                    std::optional<bool> retain_graph = {}, bool create_graph = false,
                                    bool allow_unused = false);

// Returns the accumulated gradient of [tensor]; undefined if there is none.
BOXCAR_API Tensor gradOf(const Tensor& tensor);
// Replaces it; an undefined gradient removes it. Throws Error if shape, dtype or device differ from the tensor's.
BOXCAR_API void setGrad(const Tensor& tensor, const Tensor& gradient);
// Whether [tensor] was not made by a call that is recorded.
BOXCAR_API bool isLeaf(const Tensor& tensor);
// Makes [tensor] a leaf that requires grad, or one that does not. Throws Error if its dtype is not floating point or
// complex, or if it is no leaf and shall not require grad.
BOXCAR_API void setRequiresGrad(const Tensor& tensor, bool requires_grad = true);
// Makes backward passes keep the gradient of [tensor], which need not be a leaf, as its .grad. Throws Error if it does
// not require grad.
BOXCAR_API void retainGrad(const Tensor& tensor);
// Whether retainGrad() was called; false for a leaf.
BOXCAR_API bool retainsGrad(const Tensor& tensor);

// Removes a hook. It does not keep what the hook belongs to alive.
class BOXCAR_API HookHandle final {
 public:
  HookHandle(WeakIntrusivePtr<Object> owner, uint64_t number) noexcept : owner_(std::move(owner)), number_(number) {}
  void remove() const;

 private:
  WeakIntrusivePtr<Object> owner_;
  uint64_t number_;
};

// Calls [hook] with the gradient of [tensor] in each backward pass, before it is accumulated or passed on. Throws Error
// if the tensor does not require grad. A hook that holds its own tensor keeps it until the hook is removed.
BOXCAR_API HookHandle registerHook(const Tensor& tensor, TensorHook hook);
// Calls [hook] before or after [node] in each backward pass.
BOXCAR_API HookHandle registerPreHook(const IntrusivePtr<Node>& node, NodePreHook hook);
BOXCAR_API HookHandle registerPostHook(const IntrusivePtr<Node>& node, NodePostHook hook);

}  // namespace boxcar::autograd
