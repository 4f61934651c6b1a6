#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/call/call_site.h>
#include <boxcar/dispatcher/registry/explanation.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/stack.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What tensors of layout torch._mkldnn need without oneDNN's kernels, which cpu/onednn/ has: conversions that look at
// both layouts, gradients by way of strided tensors, and the explanation of what is missing.

namespace boxcar::composite {
namespace {

using OptionalType = std::optional<ScalarType>;

Tensor toDense(const Tensor& self, OptionalType dtype, std::optional<bool> masked_grad) {
  meta::checkDefined(self);
  if (self.layout() == Layout::Strided) return dtype.has_value() ? boxcar::to(self, *dtype) : self;
  return boxcar::_to_dense(self, dtype, masked_grad);
}

// Gradients' operators return tensors of their own.
Tensor stridedGradient(const Tensor& grad, ScalarType dtype) {
  const Tensor strided = boxcar::to_dense(grad, dtype);
  return strided.is_same(grad) ? boxcar::clone(grad) : strided;
}

Tensor toMkldnnBackward(const Tensor& grad, const Tensor& input) { return stridedGradient(grad, input.scalar_type()); }

Tensor toDenseBackward(const Tensor& grad, const Tensor& input, std::optional<bool> /*masked_grad*/) {
  if (!input.is_mkldnn()) return stridedGradient(grad, input.scalar_type());
  return boxcar::to_mkldnn(grad, input.scalar_type());
}

// Whether a tensor of layout torch._mkldnn is in [value] or in the list that it is.
bool holdsMkldnn(const IValue& value) {
  if (value.isTensor()) return value.toTensor().is_mkldnn();
  if (value.isTensorList()) {
    for (const Tensor tensor : value.toTensorList()) {
      if (tensor.is_mkldnn()) return true;
    }
  }
  return false;
}

// Throws the Error of a call with tensors of layout torch._mkldnn for which nobody registered a kernel.
void explainMkldnn(const OperatorHandle& op, DispatchKeySet /*keys*/, Stack* stack) {
  const std::vector<Argument>& arguments = op.schema().arguments();
  std::vector<std::string> names;
  for (size_t i = 0; i < arguments.size() && stack->size() >= arguments.size(); ++i) {
    if (holdsMkldnn(peek(*stack, i, arguments.size()))) names.push_back(fmt::format("'{}'", arguments[i].name()));
  }
  const bool is_script = op.entry().schemaSite().is_script || currentCallSite().has_value();
  const std::string kernel = is_script ? fmt::format("write `impl {} @ MkldnnCPU {{ … }}`", op.operator_name())
                                       : fmt::format("register a kernel with BOXCAR_LIBRARY_IMPL({}, MkldnnCPU, m)",
                                                     op.operator_name().getNamespace().value_or("ns"));
  if (names.empty()) {
    BOXCAR_FAIL(
        "could not run {} for dispatch key MkldnnCPU, which this thread includes: no kernel is registered for "
        "it. Leave the scope that includes the key, or {}",
        op.operator_name(), kernel);
  }
  BOXCAR_FAIL(
      "{} has no kernel for tensors of layout torch._mkldnn, as argument{} {} {}. Call it with `.to_dense()`, and give "
      "the result back its layout with `.to_mkldnn()` where layers follow that have such kernels, or {}. It has "
      "kernels "
      "for: {}",
      op.operator_name(), names.size() > 1 ? "s" : "", fmt::join(names, " and "), names.size() > 1 ? "are" : "is",
      kernel, op.entry().listKernelKeys());
}

// The CPU's kernel of an operator that takes only tensors of layout torch._mkldnn.
void explainStrided(const OperatorHandle& op, DispatchKeySet /*keys*/, Stack* /*stack*/) {
  const std::string& name = op.schema().arguments()[0].name();
  BOXCAR_FAIL("{}: argument '{}' must be of layout torch._mkldnn, but it is strided; pass {}.to_mkldnn()",
              op.operator_name(), name, name);
}

// Calls a gradient's operator with strided tensors. Its first result takes the layout of its first argument.
void computeStrided(const OperatorHandle& op, DispatchKeySet /*keys*/, Stack* stack) {
  const size_t count = op.schema().arguments().size();
  const bool gives_mkldnn = holdsMkldnn(peek(*stack, 0, count));
  for (size_t i = 0; i < count; ++i) {
    IValue& value = peek(*stack, i, count);
    if (!holdsMkldnn(value)) continue;
    value = redispatch::_to_dense(DispatchKeySet(DispatchKey::MkldnnCPU), value.toTensor(), std::nullopt, std::nullopt);
  }
  op.redispatchBoxed(DispatchKeySet(DispatchKey::CPU), stack);
  IValue& first = peek(*stack, 0, op.schema().returns().size());
  if (!gives_mkldnn || !first.isTensor() || !first.toTensor().defined()) return;
  first = redispatch::to_mkldnn(DispatchKeySet(DispatchKey::CPU), first.toTensor(), std::nullopt);
}

Tensor emptyLikeMkldnn(const Tensor& self, OptionalType dtype, std::optional<Layout> layout,
                       std::optional<Device> device, std::optional<bool> pin_memory,
                       std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) memory_format.reset();
  return boxcar::empty(self.sizes(), dtype.value_or(self.scalar_type()), layout.value_or(Layout::Mkldnn),
                       device.value_or(self.device()), pin_memory, memory_format);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) { m.impl("to_dense", BOXCAR_FN(toDense)); }

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("to_mkldnn_backward", BOXCAR_FN(toMkldnnBackward));
  m.impl("to_dense_backward", BOXCAR_FN(toDenseBackward));
}

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  for (const char* const name : {"_to_dense", "mkldnn_reorder_conv2d_weight", "mkldnn_linear", "mkldnn_max_pool2d",
                                 "_mkldnn_reshape", "_mkldnn_transpose"}) {
    m.impl(name, CppFunction::makeFromBoxedFunction<&explainStrided>());
  }
}

BOXCAR_LIBRARY_IMPL(aten, MkldnnCPU, m) {
  m.impl("empty_like", BOXCAR_FN(emptyLikeMkldnn));
  for (const char* const name :
       {"convolution_backward", "threshold_backward", "sigmoid_backward", "tanh_backward", "gelu_backward",
        "_softmax_backward_data", "avg_pool2d_backward", "_adaptive_avg_pool2d_backward"}) {
    m.impl(name, CppFunction::makeFromBoxedFunction<&computeStrided>());
  }
}

BOXCAR_LIBRARY_IMPL(_, MkldnnCPU, m) { m.fallback(CppFunction::makeFromBoxedFunction<&explainMkldnn>()); }

}  // namespace boxcar::composite
