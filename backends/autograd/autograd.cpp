#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/gradient_graph.h>
#include <boxcar/backends/autograd/graph_task.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace boxcar::autograd {
namespace {

// Adds each of [tensors] with its gradient, 1 by default.
void addRoots(GraphTask& task, TensorList tensors, TensorList gradients) {
  BOXCAR_CHECK(gradients.empty() || gradients.size() == tensors.size(),
               "got {} tensors and {} gradients; give one gradient for each tensor, or None for those of one element",
               tensors.size(), gradients.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    BOXCAR_CHECK(
        tensor.requires_grad(),
        "element {} of tensors does not require grad and does not have a grad_fn: call requires_grad_() on a "
        "tensor that it depends on, and compute it outside of no_grad() and without detach() or an integer dtype",
        i);
    Tensor gradient = gradients.empty() ? Tensor() : gradients[i];
    if (!gradient.defined()) {
      BOXCAR_CHECK(tensor.numel() == 1,
                   "grad can be implicitly created only for scalar outputs, but element {} of "
                   "tensors has shape [{}]; reduce it, as sum() does, or give its gradient",
                   i, fmt::join(tensor.sizes(), ", "));
      BOXCAR_CHECK(!tensor.is_complex(),
                   "grad can be implicitly created only for real scalar outputs but got {}; give its gradient",
                   dtypeName(tensor.scalar_type()));
      gradient = boxcar::ones_like(tensor);
    }
    BOXCAR_CHECK(std::ranges::equal(gradient.sizes(), tensor.sizes()),
                 "Mismatch in shape: grad_output[{}] has a shape of [{}] and output[{}] has a shape of [{}].", i,
                 fmt::join(gradient.sizes(), ", "), i, fmt::join(tensor.sizes(), ", "));
    BOXCAR_CHECK(gradient.is_complex() == tensor.is_complex(),
                 "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                 "dtype: grad_output[{}] has a dtype of {} and output[{}] has a dtype of {}.",
                 i, dtypeName(gradient.scalar_type()), i, dtypeName(tensor.scalar_type()));
    task.addRoot(gradientEdge(tensor), gradient);
  }
}

}  // namespace

void backward(TensorList tensors, TensorList grad_tensors, std::optional<bool> retain_graph, bool create_graph,
              TensorList inputs) {
  GraphTask task({.keep_graph = retain_graph.value_or(create_graph), .create_graph = create_graph});
  addRoots(task, tensors, grad_tensors);
  for (const Tensor& input : inputs) {
    BOXCAR_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    retainGrad(input);  // which need not be a leaf
    task.accumulateOnlyIn(gradientEdge(input));
  }
  noteBackward(tensors);
  task.run();
}

std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList grad_outputs,
                         std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  BOXCAR_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  GraphTask task(
      {.keep_graph = retain_graph.value_or(create_graph), .create_graph = create_graph, .accumulate = false});
  addRoots(task, outputs, grad_outputs);
  for (const Tensor& input : inputs) {
    BOXCAR_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    task.capture(gradientEdge(input));
  }
  noteBackward(outputs);
  task.run();
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor gradient = task.captured(i);
    // Callers read gradients through pointers, and write them.
    gradients.push_back(gradient.defined() && isLazy(gradient) ? boxcar::clone(gradient) : gradient);
    BOXCAR_CHECK(allow_unused || gradients.back().defined(),
                 "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                 "if this is the desired behavior.");
  }
  return gradients;
}

Tensor gradOf(const Tensor& tensor) {
  const AutogradMeta* const meta = AutogradMeta::find(tensor);
  return meta == nullptr ? Tensor() : meta->grad;
}

void setGrad(const Tensor& tensor, const Tensor& gradient) {
  if (gradient.defined()) {
    BOXCAR_CHECK(!gradient.is_same(tensor), "can't assign Variable as its own grad");
    BOXCAR_CHECK(gradient.scalar_type() == tensor.scalar_type(),
                 "assigned grad has data of a different type: expected {}, got {}", dtypeName(tensor.scalar_type()),
                 dtypeName(gradient.scalar_type()));
    BOXCAR_CHECK(gradient.device() == tensor.device(), "assigned grad has data located on a different device");
    BOXCAR_CHECK(std::ranges::equal(gradient.sizes(), tensor.sizes()),
                 "assigned grad has data of a different size: expected [{}], got [{}]", fmt::join(tensor.sizes(), ", "),
                 fmt::join(gradient.sizes(), ", "));
  }
  AutogradMeta::findOrMake(tensor).grad = gradient;
}

bool isLeaf(const Tensor& tensor) { return !gradFn(tensor); }

void setRequiresGrad(const Tensor& tensor, bool requires_grad) {
  if (requires_grad == tensor.requires_grad()) return;
  BOXCAR_CHECK(requires_grad || isLeaf(tensor),
               "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
               "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  if (requires_grad && isViewWithoutGrad(tensor))
    tensor.unsafeGetTensorImpl()->clear_base();  // it has no history there
  tensor.set_requires_grad(requires_grad);
}

void retainGrad(const Tensor& tensor) {
  BOXCAR_CHECK(tensor.requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  if (!isLeaf(tensor)) retainGradOfResult(tensor);
}

bool retainsGrad(const Tensor& tensor) {
  const AutogradMeta* const meta = AutogradMeta::find(tensor);
  return meta != nullptr && meta->retains_grad;
}

namespace {

uint64_t nextHookNumber() {
  static std::atomic<uint64_t> next = 0;
  return next.fetch_add(1, std::memory_order_relaxed);
}

HookHandle handleOf(const Object* owner, uint64_t number) {
  return {WeakIntrusivePtr<Object>(IntrusivePtr<Object>::share(const_cast<Object*>(owner))), number};
}

}  // namespace

void HookHandle::remove() const {
  const IntrusivePtr<Object> owner = owner_.lock();
  if (!owner) return;
  if (auto* const node = dynamic_cast<Node*>(owner.get())) {
    Node::Hooks& hooks = node->findOrMakeHooks();
    hooks.results.remove(number_);
    hooks.pre.remove(number_);
    hooks.post.remove(number_);
  } else if (auto* const leaf = dynamic_cast<TensorImpl*>(owner.get())) {
    AutogradMeta::find(*leaf)->hooks.remove(number_);
  }
}

HookHandle registerHook(const Tensor& tensor, TensorHook hook) {
  BOXCAR_CHECK(tensor.requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  const uint64_t number = nextHookNumber();
  if (const IntrusivePtr<Node> node = gradFn(tensor)) {
    node->findOrMakeHooks().results.add(number, {AutogradMeta::find(tensor)->output_nr, std::move(hook)});
    return handleOf(node.get(), number);
  }
  AutogradMeta::findOrMake(tensor).hooks.add(number, std::move(hook));
  return handleOf(tensor.unsafeGetTensorImpl(), number);
}

HookHandle registerPreHook(const IntrusivePtr<Node>& node, NodePreHook hook) {
  const uint64_t number = nextHookNumber();
  node->findOrMakeHooks().pre.add(number, std::move(hook));
  return handleOf(node.get(), number);
}

HookHandle registerPostHook(const IntrusivePtr<Node>& node, NodePostHook hook) {
  const uint64_t number = nextHookNumber();
  node->findOrMakeHooks().post.add(number, std::move(hook));
  return handleOf(node.get(), number);
}

}  // namespace boxcar::autograd
