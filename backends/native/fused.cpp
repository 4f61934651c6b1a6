#include <boxcar/backends/meta/spatial.h>
#include <boxcar/backends/native/convolution.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/fused.h>
#include <boxcar/backends/native/images.h>
#include <boxcar/backends/native/last_reference.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace boxcar::native {

constinit DeviceStub<FusedConvolutionFunction> convolveFused("fused::convolution");
constinit DeviceStub<FusedLinearFunction> multiplyFused("fused::linear");

namespace {

struct NamedActivation {
  std::string_view name;
  Activation kind;
  size_t parameters;
  std::string_view meaning;  // of the parameters
};

constexpr NamedActivation kActivations[] = {
    {"none", Activation::kNone, 0, ""},
    {"relu", Activation::kRelu, 0, ""},
    {"clamp", Activation::kClamp, 2, "[least, greatest]"},
    {"leaky_relu", Activation::kLeakyRelu, 1, "[slope]"},
    {"elu", Activation::kElu, 1, "[alpha]"},
    {"sigmoid", Activation::kSigmoid, 0, ""},
    {"tanh", Activation::kTanh, 0, ""},
    {"silu", Activation::kSilu, 0, ""},
    {"hardswish", Activation::kHardswish, 0, ""},
    {"hardsigmoid", Activation::kHardsigmoid, 0, ""},
    {"gelu", Activation::kGelu, 0, ""},
    {"gelu_tanh", Activation::kGeluTanh, 0, ""},
};

// "none, relu, clamp [least, greatest], …"
std::string activationNames() {
  std::string text;
  for (const NamedActivation& each : kActivations) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", each.name, each.meaning.empty() ? "" : " ", each.meaning);
  }
  return text;
}

// Whether all defined [tensors] are dense ones of [device], with nothing but their elements: no wrapper, no other
// layer.
bool arePlain(std::initializer_list<const Tensor*> tensors, Device device) {
  const DispatchKeySet allowed =
      DispatchKeySet(toBackendComponent(device.type())) |
      DispatchKeySet({DispatchKey::Dense, DispatchKey::ADInplaceOrView, DispatchKey::AutogradFunctionality});
  return std::ranges::all_of(tensors, [&](const Tensor* tensor) {
    return !tensor->defined() || (tensor->device() == device && (tensor->key_set() | allowed) == allowed);
  });
}

bool isOfDtype(const Tensor& tensor, ScalarType dtype) { return !tensor.defined() || tensor.scalar_type() == dtype; }

// Whether the batch norm's tensors have an element for each of [channels].
bool areChannels(std::initializer_list<const Tensor*> tensors, int64_t channels) {
  return std::ranges::all_of(tensors, [&](const Tensor* tensor) {
    return !tensor->defined() || (tensor->dim() == 1 && tensor->sizes()[0] == channels && tensor->is_floating_point());
  });
}

// Returns [add] for images of [arguments]; undefined if it has other sizes than the result [sizes].
Tensor addedImages(const Tensor& add, std::span<const int64_t> sizes, const meta::Convolution& arguments,
                   bool is_signal) {
  if (!std::ranges::equal(add.sizes(), sizes)) return {};
  return inFormat(is_signal ? meta::asImages(add) : add, arguments.channels_last);
}

// Whether the result is written over what is added: [add], which is that of the call in the result's format.
template <class Call>
bool isOverAdded(const Call& call, const Tensor& add) {
  return call.owns_add && add.unsafeGetTensorImpl() == call.add.unsafeGetTensorImpl();
}

}  // namespace

FusedActivation fusedActivation(std::string_view op, std::string_view name, std::span<const double> parameters) {
  const auto* const found = std::ranges::find(kActivations, name, &NamedActivation::name);
  BOXCAR_CHECK(found != std::end(kActivations), "{}: there is no activation '{}'; there are {}", op, name,
               activationNames());
  BOXCAR_CHECK(parameters.size() == found->parameters,
               "{}: activation '{}' takes {} parameters, but got {}; activations and their parameters are {}", op, name,
               found->parameters, parameters.size(), activationNames());
  FusedActivation result{found->kind, {}};
  std::ranges::copy(parameters, result.parameters.begin());
  return result;
}

Tensor fusedConvolution(const FusedConvolution& call, std::span<const int64_t> stride, std::span<const int64_t> padding,
                        std::span<const int64_t> dilation, int64_t groups) {
  const Tensor& input = call.input;
  const Device device = input.device();
  if (!convolveFused.has(device.type()) || input.numel() == 0 || !call.weight.defined()) return {};
  if (!arePlain({&input, &call.weight, &call.bias, &call.norm_weight, &call.norm_bias, &call.running_mean,
                 &call.running_var, &call.add},
                device)) {
    return {};
  }
  const ScalarType type = input.scalar_type();
  const bool has_norm = call.running_mean.defined();
  if (!isOfDtype(call.add, type) || has_norm != call.running_var.defined()) return {};
  const int64_t none[] = {0};
  const meta::Convolution checked = meta::checkConvolution(input, call.weight, call.bias, stride, padding, dilation,
                                                           /*transposed=*/false, none, groups);
  if (!areChannels({&call.norm_weight, &call.norm_bias, &call.running_mean, &call.running_var},
                   checked.output_sizes[1])) {
    return {};
  }
  const bool is_signal = checked.rank() == 1;
  const meta::Convolution arguments = is_signal ? forImages(checked) : checked;
  const Tensor add = call.add.defined() ? addedImages(call.add, checked.output_sizes, arguments, is_signal) : call.add;
  if (add.defined() != call.add.defined()) return {};
  Tensor out;
  if (isOverAdded(call, add)) {
    out = overMemoryOf(
        add,
        meta::stridesIn(arguments.channels_last ? MemoryFormat::ChannelsLast : MemoryFormat::Contiguous, add.sizes()));
  } else {
    out = meta::allocateSpatial(arguments.output_sizes, arguments.channels_last, type, device);
  }
  if (out.numel() == 0) return {};
  const Tensor images = is_signal ? meta::asImages(input) : input;
  const Tensor kernels = is_signal ? meta::asImages(call.weight) : call.weight;
  if (!convolveFused(device, arguments, out,
                     {images, kernels, call.bias, call.norm_weight, call.norm_bias, call.running_mean, call.running_var,
                      call.eps, add, call.activation})) {
    return {};
  }
  if (is_signal) dropRow(out, checked);
  return out;
}

Tensor fusedLinear(const FusedLinear& call) {
  const Tensor& input = call.input;
  const Tensor& weight = call.weight;
  const Device device = input.device();
  if (!multiplyFused.has(device.type()) || input.numel() == 0) return {};
  if (!arePlain({&input, &weight, &call.bias, &call.add}, device)) return {};
  const ScalarType type = input.scalar_type();
  if (!isOfDtype(weight, type) || !isOfDtype(call.bias, type) || !isOfDtype(call.add, type)) return {};
  if (weight.dim() != 2 || weight.numel() == 0 || input.dim() == 0) return {};
  if (weight.sizes()[1] != input.sizes().back()) return {};
  if (call.bias.defined() && (call.bias.dim() != 1 || call.bias.sizes()[0] != weight.sizes()[0])) return {};
  DimVector sizes = toDimVector(input.sizes());
  sizes.back() = weight.sizes()[0];
  if (call.add.defined() && !std::ranges::equal(call.add.sizes(), sizes)) return {};
  const Tensor rows = toContiguous(input);
  const Tensor add = call.add.defined() ? toContiguous(call.add) : call.add;
  Tensor out = isOverAdded(call, add) ? overMemoryOf(add, meta::stridesIn(MemoryFormat::Contiguous, add.sizes()))
                                      : Tensor::allocate(sizes, type, device);
  return multiplyFused(device, out, {rows, weight, call.bias, add, call.activation}) ? out : Tensor();
}

}  // namespace boxcar::native
