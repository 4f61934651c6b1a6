#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/autograd/history.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ops.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What scripts differentiate with: the functions of autograd.h as operators.

namespace boxcar::autograd {
namespace {

using OptionalGradients = std::optional<List<std::optional<Tensor>>>;

// None becomes the undefined tensor.
std::vector<Tensor> definedOr(const OptionalGradients& gradients) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; gradients.has_value() && i < gradients->size(); ++i) {
    tensors.push_back(gradients->get(i).value_or(Tensor()));
  }
  return tensors;
}

void backwardOf(const Tensor& self, const std::optional<Tensor>& gradient, std::optional<bool> retain_graph,
                bool create_graph, std::optional<TensorList> inputs) {
  meta::checkDefined(self);
  BOXCAR_CHECK(!inputs.has_value() || !inputs->empty(),
               "'inputs' argument to backward() cannot be empty; leave it out to accumulate in all leaves");
  backward({{self}}, {{gradient.value_or(Tensor())}}, retain_graph, create_graph, inputs.value_or(TensorList()));
}

void backwardInto(const Tensor& self, TensorList inputs, const std::optional<Tensor>& gradient,
                  std::optional<bool> retain_graph, bool create_graph) {
  meta::checkDefined(self);
  backward({{self}}, {{gradient.value_or(Tensor())}}, retain_graph, create_graph, inputs);
}

void backwardOfAll(TensorList tensors, const OptionalGradients& grad_tensors, std::optional<bool> retain_graph,
                   bool create_graph, std::optional<TensorList> inputs) {
  BOXCAR_CHECK(!inputs.has_value() || !inputs->empty(),
               "'inputs' argument to backward() cannot be empty; leave it out to accumulate in all leaves");
  backward(tensors, definedOr(grad_tensors), retain_graph, create_graph, inputs.value_or(TensorList()));
}

std::vector<Tensor> gradients(TensorList outputs, TensorList inputs, const OptionalGradients& grad_outputs,
                              std::optional<bool> retain_graph, bool create_graph) {
  return grad(outputs, inputs, definedOr(grad_outputs), retain_graph, create_graph);
}

std::vector<std::optional<Tensor>> gradientsOrNone(TensorList outputs, TensorList inputs,
                                                   const OptionalGradients& grad_outputs,
                                                   std::optional<bool> retain_graph, bool create_graph,
                                                   bool allow_unused) {
  std::vector<std::optional<Tensor>> results;
  for (Tensor& gradient : grad(outputs, inputs, definedOr(grad_outputs), retain_graph, create_graph, allow_unused)) {
    results.push_back(gradient.defined() ? std::optional(std::move(gradient)) : std::nullopt);
  }
  return results;
}

std::vector<Tensor> gradientsOrZeros(TensorList outputs, TensorList inputs, const OptionalGradients& grad_outputs,
                                     std::optional<bool> retain_graph, bool create_graph, bool materialize_grads) {
  std::vector<Tensor> results =
      grad(outputs, inputs, definedOr(grad_outputs), retain_graph, create_graph, materialize_grads);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) results[i] = boxcar::zeros_like(inputs[i]);
  }
  return results;
}

struct SetRequiresGrad {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  Tensor& operator()(Tensor& self, bool requires_grad) const {
    meta::checkDefined(self);
    setRequiresGrad(self, requires_grad);
    return self;
  }
};

struct Detach {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  Tensor& operator()(Tensor& self) const {
    meta::checkDefined(self);
    BOXCAR_CHECK(!self.requires_grad() || self.unsafeGetTensorImpl()->base() == nullptr,
                 "Can't detach views in-place. Use detach() instead.");
    makeLeaf(self);
    return self;
  }
};

struct RetainGrad {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  void operator()(Tensor& self) const {
    meta::checkDefined(self);
    retainGrad(self);
  }
};

struct SetGrad {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  void operator()(Tensor& self, const std::optional<Tensor>& value) const {
    meta::checkDefined(self);
    // A script's number becomes a tensor, which is no gradient of anything.
    BOXCAR_CHECK(!value.has_value() || !value->defined() || !value->unsafeGetTensorImpl()->is_wrapped_number(),
                 "assigned grad expected to be a Tensor or None but got grad of type {}; zeros_like(x) makes a Tensor",
                 value->is_floating_point() ? "float"
                 : value->is_complex()      ? "complex"
                                            : "int");
    setGrad(self, value.value_or(Tensor()));
  }
};

struct AssignRequiresGrad {
  static constexpr WriteCount kWriteCount = WriteCount::kNever;
  void operator()(Tensor& self, bool value) const { SetRequiresGrad()(self, value); }
};

bool retains(const Tensor& self) {
  meta::checkDefined(self);
  return retainsGrad(self);
}

bool leaf(const Tensor& self) {
  meta::checkDefined(self);
  return isLeaf(self);
}

int64_t outputNumber(const Tensor& self) {
  meta::checkDefined(self);
  return gradFn(self) ? AutogradMeta::find(self)->output_nr : 0;
}

int64_t versionOf(const Tensor& self) {
  meta::checkDefined(self);
  return self.version();
}

IValue gradOrNone(const Tensor& self) {
  meta::checkDefined(self);
  Tensor gradient = gradOf(self);
  return gradient.defined() ? IValue(std::move(gradient)) : IValue();
}

bool doesRequireGrad(const Tensor& self) {
  meta::checkDefined(self);
  adoptHistory(self);
  return self.requires_grad();
}

std::optional<std::string> nodeName(const Tensor& self) {
  meta::checkDefined(self);
  const IntrusivePtr<Node> node = gradFn(self);
  return node ? std::optional(node->name()) : std::nullopt;
}

Tensor dataOf(const Tensor& self) {
  meta::checkDefined(self);
  return self.shallowCopy();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("detach_", Detach()); }

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("backward", BOXCAR_FN(backwardOf));
  m.impl("_backward", BOXCAR_FN(backwardInto));
  m.impl("requires_grad_", SetRequiresGrad());
  m.impl("retain_grad", RetainGrad());
  m.impl("retains_grad", BOXCAR_FN(retains));
  m.impl("is_leaf", BOXCAR_FN(leaf));
  m.impl("output_nr", BOXCAR_FN(outputNumber));
  m.impl("_version", BOXCAR_FN(versionOf));
}

BOXCAR_LIBRARY_IMPL(autograd, CompositeImplicitAutograd, m) {
  m.impl("backward", BOXCAR_FN(backwardOfAll));
  m.impl("grad", BOXCAR_FN(gradients));
  m.impl("grad.allow_unused", BOXCAR_FN(gradientsOrNone));
  m.impl("grad.materialize_grads", BOXCAR_FN(gradientsOrZeros));
}

BOXCAR_LIBRARY_IMPL(prim, CompositeImplicitAutograd, m) {
  m.impl("grad", BOXCAR_FN(gradOrNone));
  m.impl("grad.set", SetGrad());
  m.impl("requires_grad", BOXCAR_FN(doesRequireGrad));
  m.impl("requires_grad.set", AssignRequiresGrad());
  m.impl("is_leaf", BOXCAR_FN(leaf));
  m.impl("grad_fn", BOXCAR_FN(nodeName));
  m.impl("data", BOXCAR_FN(dataOf));
}

}  // namespace boxcar::autograd
