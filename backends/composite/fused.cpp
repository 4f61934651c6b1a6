#include <boxcar/backends/composite/handed_over.h>
#include <boxcar/backends/composite/has_derivative.h>
#include <boxcar/backends/composite/plain_call.h>
#include <boxcar/backends/native/fused.h>
#include <boxcar/backends/native/last_reference.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <source_location>
#include <span>
#include <string_view>

// Each operator is one kernel of the device where there is one and nothing is differentiated; else it is made of the
// operators that it stands for, whose gradients are its own.

namespace boxcar::composite {
namespace {

using OptionalTensor = std::optional<Tensor>;
using IntSpan = std::span<const int64_t>;
using native::Activation;
using native::FusedActivation;

constexpr std::string_view kFusedConvolution = "fused::convolution";
constexpr std::string_view kFusedLinear = "fused::linear";

// Whether autocast is on, which chooses dtypes for each of the operators.
bool isAutocastOn() { return !::boxcar::detail::computeDispatchKeySet({}, autocast_dispatch_keyset).empty(); }

bool isDifferentiated(std::initializer_list<const Tensor*> tensors) {
  return std::ranges::any_of(tensors, [](const Tensor* tensor) { return hasDerivative(*tensor); });
}

Tensor activated(const Tensor& self, const FusedActivation& activation) {
  const auto [first, second] = activation.parameters;
  switch (activation.kind) {
    case Activation::kNone: return self;
    case Activation::kRelu: return boxcar::relu(self);
    case Activation::kClamp: return boxcar::clamp(self, first, second);
    case Activation::kLeakyRelu: return boxcar::leaky_relu(self, first);
    case Activation::kElu: return boxcar::elu(self, first);
    case Activation::kSigmoid: return boxcar::sigmoid(self);
    case Activation::kTanh: return boxcar::tanh(self);
    case Activation::kSilu: return boxcar::silu(self);
    case Activation::kHardswish: return boxcar::hardswish(self);
    case Activation::kHardsigmoid: return boxcar::hardsigmoid(self);
    case Activation::kGelu: return boxcar::gelu(self);
    case Activation::kGeluTanh: return boxcar::gelu(self, "tanh");
  }
  BOXCAR_FAIL("there is no activation of number {}", static_cast<int>(activation.kind));
}

Tensor addedAndActivated(const Tensor& self, const Tensor& add, const FusedActivation& activation) {
  return activated(add.defined() ? boxcar::add(self, add) : self, activation);
}

// Returns what a program called before it was prepared, which autocast knows; undefined for other numbers of
// dimensions.
Tensor plainConvolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, IntSpan stride,
                        IntSpan padding, IntSpan dilation, int64_t groups) {
  switch (weight.dim()) {
    case 3: return boxcar::conv1d(input, weight, bias, stride, padding, dilation, groups);
    case 4: return boxcar::conv2d(input, weight, bias, stride, padding, dilation, groups);
    case 5: return boxcar::conv3d(input, weight, bias, stride, padding, dilation, groups);
    default: return {};
  }
}

Tensor convolve(bool owns_add, const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                const OptionalTensor& norm_weight, const OptionalTensor& norm_bias, const OptionalTensor& running_mean,
                const OptionalTensor& running_var, double eps, IntSpan stride, IntSpan padding, IntSpan dilation,
                int64_t groups, const OptionalTensor& add, std::string_view activation,
                std::span<const double> parameters) {
  const Tensor none;
  const auto given = [&](const OptionalTensor& tensor) -> const Tensor& { return tensor.has_value() ? *tensor : none; };
  const native::FusedConvolution call{input,
                                      weight,
                                      given(bias),
                                      given(norm_weight),
                                      given(norm_bias),
                                      given(running_mean),
                                      given(running_var),
                                      eps,
                                      given(add),
                                      native::fusedActivation(kFusedConvolution, activation, parameters),
                                      owns_add};
  const bool has_norm = call.running_mean.defined();
  BOXCAR_CHECK(has_norm == call.running_var.defined(),
               "{}: a batch norm needs both running_mean and running_var, but only {} is given", kFusedConvolution,
               has_norm ? "running_mean" : "running_var");
  BOXCAR_CHECK(has_norm || (!call.norm_weight.defined() && !call.norm_bias.defined()),
               "{}: {} belongs to a batch norm, which needs running_mean and running_var", kFusedConvolution,
               call.norm_weight.defined() ? "norm_weight" : "norm_bias");
  const bool casts = isAutocastOn();
  if (!casts && !isDifferentiated({&input, &weight, &call.bias, &call.norm_weight, &call.norm_bias, &call.running_mean,
                                   &call.running_var, &call.add})) {
    const Tensor result = native::fusedConvolution(call, stride, padding, dilation, groups);
    if (result.defined()) return result;
  }
  Tensor result = casts ? plainConvolution(input, weight, bias, stride, padding, dilation, groups) : Tensor();
  if (!result.defined()) {
    const int64_t no_padding[] = {0};
    result =
        boxcar::convolution(input, weight, bias, stride, padding, dilation, /*transposed=*/false, no_padding, groups);
  }
  if (has_norm) {
    result = boxcar::batch_norm(result, norm_weight, norm_bias, running_mean, running_var, /*training=*/false,
                                /*momentum=*/0.0, eps, /*cudnn_enabled=*/false);
  }
  return addedAndActivated(result, call.add, call.activation);
}

Tensor fusedConvolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                        const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                        const OptionalTensor& running_mean, const OptionalTensor& running_var, double eps,
                        IntSpan stride, IntSpan padding, IntSpan dilation, int64_t groups, const OptionalTensor& add,
                        std::string_view activation, std::span<const double> parameters) {
  return convolve(/*owns_add=*/false, input, weight, bias, norm_weight, norm_bias, running_mean, running_var, eps,
                  stride, padding, dilation, groups, add, activation, parameters);
}

Tensor multiply(bool owns_add, const Tensor& input, const Tensor& weight, const OptionalTensor& bias,
                const OptionalTensor& add, std::string_view activation, std::span<const double> parameters) {
  const Tensor none;
  const auto given = [&](const OptionalTensor& tensor) -> const Tensor& { return tensor.has_value() ? *tensor : none; };
  const native::FusedLinear call{
      input, weight, given(bias), given(add), native::fusedActivation(kFusedLinear, activation, parameters), owns_add};
  if (!isAutocastOn() && !isDifferentiated({&input, &weight, &call.bias, &call.add})) {
    const Tensor result = native::fusedLinear(call);
    if (result.defined()) return result;
  }
  return addedAndActivated(boxcar::linear(input, weight, bias), call.add, call.activation);
}

Tensor fusedLinear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const OptionalTensor& add,
                   std::string_view activation, std::span<const double> parameters) {
  return multiply(/*owns_add=*/false, input, weight, bias, add, activation, parameters);
}

// Whether a plain call hands over argument `add`, the last but two of both operators.
bool ownsAdd(DispatchKeySet keys, const Stack& stack) {
  constexpr size_t kFromEnd = 3;
  if (stack.size() < kFromEnd || !isPlainCpuCall(keys)) return false;
  const IValue& add = stack.end()[-static_cast<ptrdiff_t>(kFromEnd)];
  return add.tag() == IValue::Tag::Tensor && native::isLastReference(add.unsafeGet<IValue::Tag::Tensor>());
}

void convolutionOnStack(const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  callOnStack(&convolve, ownsAdd(keys, stack), op, stack);
}

void linearOnStack(const Kernel*, const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  callOnStack(&multiply, ownsAdd(keys, stack), op, stack);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(fused, CompositeImplicitAutograd, m) {
  const auto here = std::source_location::current();
  m.impl("convolution", TwoForms<&fusedConvolution, &convolutionOnStack>::kKernel, here);
  m.impl("linear", TwoForms<&fusedLinear, &linearOnStack>::kKernel, here);
}

}  // namespace boxcar::composite
