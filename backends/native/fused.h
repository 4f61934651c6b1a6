#pragma once

#include <boxcar/backends/meta/convolution.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace boxcar::native {

// What a fused operator does with its result's elements at last.
enum class Activation : uint8_t {
  kNone,
  kRelu,
  kClamp,
  kLeakyRelu,
  kElu,
  kSigmoid,
  kTanh,
  kSilu,
  kHardswish,
  kHardsigmoid,
  kGelu,
  kGeluTanh,
};

struct FusedActivation {
  Activation kind = Activation::kNone;
  std::array<double, 2> parameters{};  // of clamp: least and greatest; of leaky_relu: slope; of elu: alpha
};

// Returns the activation [name]. Throws Error if there is none of this name, or if it takes another number of
// parameters.
FusedActivation fusedActivation(std::string_view op, std::string_view name, std::span<const double> parameters);

// The operands of fused::convolution; all but [input] and [weight] may be undefined. There is a batch norm if
// [running_mean] is defined.
struct FusedConvolution {
  const Tensor& input;
  const Tensor& weight;
  const Tensor& bias;
  const Tensor& norm_weight;
  const Tensor& norm_bias;
  const Tensor& running_mean;
  const Tensor& running_var;
  double eps;
  const Tensor& add;
  FusedActivation activation;
  bool owns_add = false;  // [add] is a last reference (native/last_reference.h)
};

// Writes the result to [out], which has elements and the memory format of arguments.channels_last; returns false and
// writes nothing if the device has no fast kernel for the call. The arguments are checked, the input is one of images
// or volumes, input, weight, bias and add have one dtype, the norm's tensors have an element for each channel, in any
// floating point dtype, and add has the sizes and strides of [out], and maybe its memory.
using FusedConvolutionFunction = bool(const meta::Convolution& arguments, const Tensor& out,
                                      const FusedConvolution& call);
// A device that has none takes the operators that the fused one stands for.
extern DeviceStub<FusedConvolutionFunction> convolveFused;

// Returns the convolution with all that follows, computed at once; undefined if that does not apply to the arguments,
// which may then be wrong.
Tensor fusedConvolution(const FusedConvolution& call, std::span<const int64_t> stride, std::span<const int64_t> padding,
                        std::span<const int64_t> dilation, int64_t groups);

// The operands of fused::linear; [bias] and [add] may be undefined.
struct FusedLinear {
  const Tensor& input;
  const Tensor& weight;
  const Tensor& bias;
  const Tensor& add;
  FusedActivation activation;
  bool owns_add = false;
};

// Like FusedConvolutionFunction. [out], [input] and [add] are contiguous with rows as last dimension, of one dtype with
// weight, [outputs, inputs] in any layout, and bias, [outputs]. [add] may have the memory of [out].
using FusedLinearFunction = bool(const Tensor& out, const FusedLinear& call);
extern DeviceStub<FusedLinearFunction> multiplyFused;

Tensor fusedLinear(const FusedLinear& call);

}  // namespace boxcar::native
