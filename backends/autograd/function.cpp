#include <boxcar/backends/autograd/anomaly_mode.h>
#include <boxcar/backends/autograd/forward_mode.h>
#include <boxcar/backends/autograd/function.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>

namespace boxcar::autograd {
namespace {

bool isAmong(const variable_list& tensors, const Tensor& tensor) {
  return std::ranges::any_of(tensors, [&](const Tensor& each) { return each.is_same(tensor); });
}

bool sharesMemory(const variable_list& tensors, const Tensor& tensor) {
  return std::ranges::any_of(
      tensors, [&](const Tensor& each) { return each.defined() && each.storage().get() == tensor.storage().get(); });
}

}  // namespace

variable_list AutogradContext::get_saved_variables() const {
  variable_list tensors;
  for (const SavedValue& saved : saved_) {
    BOXCAR_CHECK(!saved.isFreed(),
                 "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                 "already been freed). Specify retain_graph=True to go back through it a second time.");
    tensors.push_back(saved.value().isNone() ? Tensor() : saved.tensor(IntrusivePtr<Node>::share(node_)));
  }
  return tensors;
}

bool AutogradContext::needs_input_grad(size_t index) const {
  const auto& edges = node_->edge_of_argument_;
  BOXCAR_CHECK(index < edges.size(), "needs_input_grad({}): {} got {} arguments", index, node_->name(), edges.size());
  return edges[index] != FunctionNode::kNoEdge && node_->edges()[edges[index]].is_valid();
}

void FunctionNode::addArgument(const Tensor& tensor) {
  edge_of_argument_.push_back(static_cast<uint32_t>(edges().size()));
  Edge edge = tensor.defined() && GradMode::is_enabled() ? gradientEdge(tensor) : Edge();
  has_history_ |= edge.is_valid();
  if (computesTangents() && !leaves_tangents_ && tensor.defined() && hasTangent(tensor)) {
    has_tangents_ = true;
    if (!edge.is_valid()) edge = Edge(tensor.shallowCopy());  // so that backward() computes a gradient, which is lost
  }
  addEdge(std::move(edge));
  inputs_.push_back(tensor);
}

void FunctionNode::addCaptured(Edge edge) {
  edge_of_argument_.push_back(static_cast<uint32_t>(edges().size()));
  has_history_ |= edge.is_valid();
  addEdge(std::move(edge));
  inputs_.emplace_back();
}

void FunctionNode::addArgument(TensorList tensors) {
  for (const Tensor& tensor : tensors) addArgument(tensor);
}

bool FunctionNode::isWanted() const noexcept {
  return std::ranges::any_of(edges(), [](const Edge& edge) { return edge.is_valid(); });
}

variable_list FunctionNode::withHistory(const variable_list& outputs) {
  const auto self = IntrusivePtr<FunctionNode>::share(this);
  variable_list results = outputs;
  for (Tensor& output : results) {
    if (!output.defined()) continue;
    const bool is_dirty = isAmong(context_.dirty_, output);
    if (isAmong(context_.non_differentiable_, output) || !canRequireGrad(output) || (is_dirty && !has_history_)) {
      if (!is_dirty && isAmong(inputs_, output)) output = output.shallowCopy();  // the input keeps its history
      addOutput(output);
    } else if (is_dirty) {
      rebaseHistory(output, self);
    } else {
      if (isAmong(inputs_, output)) {
        const AutoGradMode mode(false);
        const OuterForwardLevels none(0);
        output = boxcar::alias(output);
      }
      output.unsafeGetTensorImpl()->clear_base();
      setHistory(output, self);
      AutogradMeta::find(output)->is_function_view = sharesMemory(inputs_, output);
    }
  }
  return results;
}

void FunctionNode::save(const variable_list& returned, const variable_list& outputs) {
  for (const Tensor& tensor : context_.to_save_) {
    const auto found = std::ranges::find_if(returned, [&](const Tensor& each) { return each.is_same(tensor); });
    const auto index = static_cast<size_t>(found - returned.begin());
    const bool is_result =
        found != returned.end() && outputs[index].requires_grad() && !isAmong(context_.non_differentiable_, tensor);
    if (!tensor.defined()) {
      context_.saved_.emplace_back();
    } else if (is_result) {
      context_.saved_.emplace_back(outputs[index], static_cast<int>(AutogradMeta::find(outputs[index])->output_nr));
    } else {
      context_.saved_.emplace_back(IValue(tensor));
    }
  }
}

void FunctionNode::computeTangents(const variable_list& outputs) {
  variable_list differentiable;  // undefined where not
  for (const Tensor& output : outputs) {
    if (!output.defined()) continue;
    differentiable.push_back(isAmong(context_.non_differentiable_, output) ? Tensor() : output);
  }
  const std::span<const uint64_t> active = forwardLevels();
  for (size_t i = 0; i < active.size(); ++i) {
    const uint64_t level = active[i];
    const OuterForwardLevels outer(i);
    variable_list tangents;
    for (const Tensor& input : inputs_) tangents.push_back(tangentOf(input, level));
    const variable_list found = tangentsByTransposition(*this, differentiable, tangents);
    for (size_t k = 0; k < found.size(); ++k) {
      if (!found[k].defined()) continue;
      if (isAmong(context_.dirty_, differentiable[k])) {
        writeTangent(differentiable[k], level, found[k]);
      } else {
        setTangent(differentiable[k], level, found[k]);
      }
    }
  }
}

variable_list FunctionNode::finish(variable_list outputs) {
  context_.node_ = this;
  rememberCall(*this, name_);
  for (const Tensor& dirty : context_.dirty_) {
    BOXCAR_CHECK(isAmong(outputs, dirty), "{}: an input that was marked as dirty is not returned by forward()", name_);
    if (!has_history_) continue;
    checkWrittenInPlace(dirty);
    BOXCAR_CHECK(
        outputs.size() == 1 || dirty.unsafeGetTensorImpl()->base() == nullptr,
        "{}: forward() writes an input that is a view of another tensor, and returns {} tensors; it may return "
        "only one then. Give it a clone() of the view, or make two Functions of it",
        name_, outputs.size());
  }
  if (isWanted()) {
    variable_list results = withHistory(outputs);
    save(outputs, results);
    if (has_tangents_) computeTangents(results);
    for (Tensor& result : results) {
      const bool is_dirty = isAmong(context_.dirty_, result);
      if (!has_history_ && !is_dirty && result.defined() && result.requires_grad()) result = withoutHistory(result);
    }
    outputs = std::move(results);
  }
  // What the node keeps must not keep the node.
  context_.to_save_.clear();
  context_.dirty_.clear();
  context_.non_differentiable_.clear();
  inputs_.clear();
  return outputs;
}

Gradients FunctionNode::apply(Gradients grad_outputs) {
  variable_list gradients(grad_outputs.begin(), grad_outputs.end());
  for (size_t i = 0; context_.materialize_grads_ && i < gradients.size(); ++i) {
    if (gradients[i].defined()) continue;
    const GradientShape& shape = outputShapes()[i];
    gradients[i] = boxcar::zeros(shape.sizes, shape.dtype, std::nullopt, shape.device);
  }
  const variable_list results = backward_(&context_, std::move(gradients));
  BOXCAR_CHECK(results.size() == edge_of_argument_.size(),
               "Function {} returned an incorrect number of gradients (expected {}, got {})", name_,
               edge_of_argument_.size(), results.size());
  Gradients for_edges(edges().size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (edge_of_argument_[i] != kNoEdge) {
      for_edges[edge_of_argument_[i]] = results[i];
    } else {
      BOXCAR_CHECK(!results[i].defined(),
                   "Function {} returned a gradient for argument {}, which is not a tensor; return an undefined tensor",
                   name_, i);
    }
  }
  return for_edges;
}

void FunctionNode::freeSaved() noexcept {
  for (SavedValue& saved : context_.saved_) saved.free();
}

}  // namespace boxcar::autograd
