#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/formula.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function_call.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/autograd/node.h>
#include <boxcar/backends/transforms/batched_tensor.h>
#include <boxcar/backends/transforms/primals.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

namespace boxcar::transforms {

using autograd::canRequireGrad;
using autograd::tensorsIn;
using autograd::withTensors;

Primals::Primals(std::span<const IValue> values)
    : levels_(vmapLevels().begin(), vmapLevels().end()),
      values_(values.begin(), values.end()),
      may_be_nested_(GradMode::is_enabled()) {
  const std::vector<Tensor> tensors = tensorsIn(values_);
  is_nested_ = may_be_nested_ && std::ranges::any_of(tensors, [](const Tensor& tensor) {
                 return tensor.defined() && tensor.requires_grad();
               });
  const RecordsAlways recording;
  for (const Tensor& tensor : tensors) {
    if (!canRequireGrad(tensor)) {
      inputs_.push_back(tensor);
      continue;
    }
    const Tensor physical = toPhysical(tensor, levels_);
    const bool is_recorded = is_nested_ && physical.requires_grad();
    Tensor input = is_recorded ? boxcar::alias(physical) : autograd::withoutHistory(physical);
    if (!input.requires_grad()) autograd::setRequiresGrad(input);
    inputs_.push_back(fromPhysical(input, levels_));
    wanted_.push_back(std::move(input));
  }
}

void Primals::noteOutputs(std::span<const Tensor> outputs) {
  if (is_nested_ || !may_be_nested_) return;
  const auto isOther = [&](const TensorImpl* leaf) {
    return std::ranges::none_of(wanted_, [&](const Tensor& tensor) { return tensor.unsafeGetTensorImpl() == leaf; });
  };
  std::unordered_set<const autograd::Node*> seen;
  std::vector<IntrusivePtr<autograd::Node>> roots;
  std::vector<const autograd::Node*> next;
  for (const Tensor& output : outputs) {
    if (!output.defined() || !output.requires_grad()) continue;
    const Tensor physical = toPhysical(output, levels_);
    roots.push_back(autograd::gradFn(physical));
    if (roots.back() == nullptr) {
      is_nested_ |= isOther(physical.unsafeGetTensorImpl());
    } else if (seen.insert(roots.back().get()).second) {
      next.push_back(roots.back().get());
    }
  }
  while (!next.empty() && !is_nested_) {
    const autograd::Node* const node = next.back();
    next.pop_back();
    for (const autograd::Edge& edge : node->edges()) {
      if (!edge.is_valid()) continue;
      if (edge.leaf() != nullptr) {
        is_nested_ |= isOther(edge.leaf());
      } else if (seen.insert(edge.node()).second) {
        next.push_back(edge.node());
      }
    }
  }
}

Primals::Linearized Primals::linearized(std::span<const Tensor> outputs) const {
  Linearized map;
  const RecordsAlways recording;
  std::vector<Tensor> roots;
  for (const Tensor& output : outputs) {
    Tensor weight;
    if (output.defined() && output.requires_grad()) {
      roots.push_back(toPhysical(output, levels_));
      weight = boxcar::zeros_like(roots.back());
      weight.set_requires_grad(true);
    }
    map.weights.push_back(weight);
  }
  std::vector<Tensor> weights;
  for (const Tensor& weight : map.weights) {
    if (weight.defined()) weights.push_back(weight);
  }
  map.products = std::vector<Tensor>(wanted_.size());
  if (!roots.empty()) map.products = autograd::grad(roots, wanted_, weights, true, true, true);
  return map;
}

std::vector<Tensor> Primals::changes(const Linearized& map, std::span<const Tensor> outputs,
                                     std::span<const Tensor> tangents) const {
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  size_t next = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!canRequireGrad(inputs_[i])) continue;
    const Tensor& product = map.products[next++];
    if (!product.defined() || !product.requires_grad()) continue;
    roots.push_back(product);
    root_grads.push_back(toPhysical(tangents[i], levels_));
  }
  std::vector<Tensor> weights;
  for (const Tensor& weight : map.weights) {
    if (weight.defined()) weights.push_back(weight);
  }
  std::vector<Tensor> found(weights.size());
  if (!roots.empty() && !weights.empty()) {
    found = autograd::grad(roots, weights, root_grads, true, is_nested_, true);
  }
  std::vector<Tensor> changes;
  next = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor change;
    if (map.weights[i].defined()) change = found[next++];
    if (change.defined()) {
      changes.push_back(fromPhysical(change, levels_));
    } else {
      changes.push_back(outputs[i].defined() ? boxcar::zeros_like(outputs[i]) : Tensor());
    }
  }
  return changes;
}

std::vector<IValue> Primals::inputs() const { return withTensors(values_, inputs_); }

std::vector<IValue> Primals::gradients(std::span<const Tensor> outputs, std::span<const Tensor> grad_outputs,
                                       bool keeps_graph) const {
  std::vector<Tensor> roots;
  std::vector<Tensor> root_grads;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    const Tensor root = toPhysical(outputs[i], levels_);
    // The slices do not depend on each other, so the gradient of their sum has that of each.
    root_grads.push_back(grad_outputs[i].defined() ? toPhysical(grad_outputs[i], levels_)
                         : levels_.empty()         ? Tensor()
                                                   : boxcar::ones_like(root));
    roots.push_back(root);
  }
  std::vector<Tensor> found(wanted_.size());
  if (!roots.empty() && !wanted_.empty()) {
    found = autograd::grad(roots, wanted_, root_grads, keeps_graph || is_nested_, is_nested_, true);
  }
  std::vector<Tensor> results;
  size_t next = 0;
  for (const Tensor& input : inputs_) {
    if (!canRequireGrad(input)) {
      results.emplace_back();
    } else {
      const Tensor& gradient = found[next++];
      results.push_back(gradient.defined() ? fromPhysical(gradient, levels_) : boxcar::zeros_like(input));
    }
  }
  std::vector<IValue> gradients = withTensors(values_, results);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (std::ranges::none_of(tensorsIn({&values_[i], 1}), canRequireGrad)) gradients[i] = IValue();
  }
  return gradients;
}

namespace {

Tensor plainWithoutHistory(const Tensor& tensor) {
  if (!isBatched(tensor)) return autograd::withoutHistory(tensor);
  return makeBatched(plainWithoutHistory(innerOf(tensor)), levelOf(tensor));
}

}  // namespace

IValue detached(const IValue& value, bool is_nested) {
  if (is_nested) return value;
  std::vector<Tensor> tensors = tensorsIn({&value, 1});
  for (Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) tensor = plainWithoutHistory(tensor);
  }
  return withTensors({&value, 1}, tensors)[0];
}

}  // namespace boxcar::transforms
