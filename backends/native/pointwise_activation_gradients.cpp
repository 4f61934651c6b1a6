#include <boxcar/backends/functors/pointwise_activation_gradients.h>
#include <boxcar/backends/functors/pointwise_binary_activation.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

// The gradients of activations whose arguments are not those of a functor.

namespace boxcar::native {
namespace {

constexpr Pointwise kGeluBackward = makePointwise<GeluBackward, 2, Result::kSame>("gelu_backward", kFloatingTypes);
constexpr Pointwise kGeluTanhBackward =
    makePointwise<GeluTanhBackward, 2, Result::kSame>("gelu_backward", kFloatingTypes);
constexpr Pointwise kEluBackward = makePointwise<EluBackward, 2, Result::kSame>("elu_backward", kFloatingTypes);
constexpr Pointwise kLogSigmoidBackward =
    makePointwise<LogSigmoidBackward, 2, Result::kSame>("log_sigmoid_backward", kFloatingTypes);
constexpr Pointwise kGluValueBackward = makePointwise<Glu, 2, Result::kSame>("glu_backward", kFloatingTypes);
constexpr Pointwise kGluGateBackward = makePointwise<GluGateBackward, 3, Result::kSame>("glu_backward", kFloatingTypes);

constexpr Pointwise kThresholdBackward =
    makePointwise<ThresholdBackward, 2, Result::kSame>("threshold_backward", kRealTypes);
constexpr Pointwise kLeakyReluBackward =
    makePointwise<LeakyReluBackward, 2, Result::kSame>("leaky_relu_backward", kFloatingTypes);

Tensor thresholdBackward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
  return pointwise(kThresholdBackward, {self, grad_output}, &threshold);
}
Tensor& thresholdBackwardOut(const Tensor& grad_output, const Tensor& self, const Scalar& threshold,
                             Tensor& grad_input) {
  return pointwiseOut(kThresholdBackward, grad_input, {self, grad_output}, &threshold);
}

void checkLeakySlope(const Scalar& slope, bool is_result) {
  BOXCAR_CHECK(
      !is_result || slope.toDouble() >= 0,
      "leaky_relu_backward: the gradient at a result is known only for a slope that is not negative, but it is "
      "{}. Call leaky_relu in place of leaky_relu_",
      slope.toDouble());
}
Tensor leakyReluBackward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope,
                         bool self_is_result) {
  checkLeakySlope(negative_slope, self_is_result);
  return pointwise(kLeakyReluBackward, {self, grad_output}, &negative_slope);
}
Tensor& leakyReluBackwardOut(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope,
                             bool self_is_result, Tensor& grad_input) {
  checkLeakySlope(negative_slope, self_is_result);
  return pointwiseOut(kLeakyReluBackward, grad_input, {self, grad_output}, &negative_slope);
}

const Pointwise& geluBackwardBy(std::string_view approximate) {
  BOXCAR_CHECK(approximate == "none" || approximate == "tanh",
               "approximate argument must be either none or tanh, but it is '{}'.", approximate);
  return approximate == "none" ? kGeluBackward : kGeluTanhBackward;
}

Tensor geluBackward(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  return pointwise(geluBackwardBy(approximate), {grad_output, self});
}

Tensor& geluBackwardOut(const Tensor& grad_output, const Tensor& self, std::string_view approximate,
                        Tensor& grad_input) {
  return pointwiseOut(geluBackwardBy(approximate), grad_input, {grad_output, self});
}

std::array<Scalar, 4> eluParameters(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                                    bool is_result) {
  BOXCAR_CHECK(!is_result || alpha.toDouble() >= 0,
               "elu_backward: the gradient at a result is known only for an alpha that is not negative, but it is {}. "
               "Call elu in place of elu_",
               alpha.toDouble());
  return {alpha, scale, input_scale, Scalar(is_result)};
}

Tensor eluBackward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                   bool is_result, const Tensor& self_or_result) {
  const auto parameters = eluParameters(alpha, scale, input_scale, is_result);
  return pointwise(kEluBackward, {grad_output, self_or_result}, parameters.data());
}

Tensor& eluBackwardOut(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                       bool is_result, const Tensor& self_or_result, Tensor& grad_input) {
  const auto parameters = eluParameters(alpha, scale, input_scale, is_result);
  return pointwiseOut(kEluBackward, grad_input, {grad_output, self_or_result}, parameters.data());
}

// The buffer has exp(-|self|), which is quicker to compute again than to read.
Tensor logSigmoidBackward(const Tensor& grad_output, const Tensor& self, const Tensor& buffer) {
  meta::checkDefined(buffer);
  return pointwise(kLogSigmoidBackward, {grad_output, self});
}

Tensor& logSigmoidBackwardOut(const Tensor& grad_output, const Tensor& self, const Tensor& buffer, Tensor& grad_input) {
  meta::checkDefined(buffer);
  return pointwiseOut(kLogSigmoidBackward, grad_input, {grad_output, self});
}

// Writes both halves of the gradient along [dim].
void writeGluGradient(const Tensor& grad_output, const Tensor& self, int64_t dim, const Tensor& grad_input) {
  const size_t along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  DimVector sizes = toDimVector(self.sizes());
  sizes[along] /= 2;
  if (self.numel() == 0) return;
  const auto half = [&](const Tensor& whole, int64_t number) {
    return whole.view(sizes, whole.strides(), whole.storage_offset() + number * sizes[along] * whole.strides()[along]);
  };
  Tensor values = half(grad_input, 0);
  Tensor gates = half(grad_input, 1);
  const Tensor gate = half(self, 1);
  pointwiseOut(kGluValueBackward, values, {grad_output, gate});
  pointwiseOut(kGluGateBackward, gates, {grad_output, half(self, 0), gate});
}

void checkGlu(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const size_t along = static_cast<size_t>(wrapDimension(dim, self.dim()));
  DimVector sizes = toDimVector(self.sizes());
  BOXCAR_CHECK(sizes[along] % 2 == 0, "Halving dimension must be even, but dimension {} is size {}", dim, sizes[along]);
  sizes[along] /= 2;
  BOXCAR_CHECK(std::ranges::equal(grad_output.sizes(), sizes),
               "glu_backward: grad_output has the shape [{}], but the result of glu has [{}]",
               fmt::join(grad_output.sizes(), ", "), fmt::join(sizes, ", "));
  BOXCAR_CHECK(grad_output.scalar_type() == self.scalar_type(),
               "glu_backward: expected grad_output and self of the same dtype, but got {} and {}",
               dtypeName(grad_output.scalar_type()), dtypeName(self.scalar_type()));
}

Tensor gluBackward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  checkGlu(grad_output, self, dim);
  Tensor grad_input = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  writeGluGradient(grad_output, self, dim, grad_input);
  return grad_input;
}

Tensor& gluBackwardOut(const Tensor& grad_output, const Tensor& self, int64_t dim, Tensor& grad_input) {
  checkGlu(grad_output, self, dim);
  return writeResult(grad_input, gluBackward(grad_output, self, dim));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_ACTIVATION_GRADIENTS_TABLE, m)
  m.impl("threshold_backward", BOXCAR_FN(thresholdBackward));
  m.impl("threshold_backward.grad_input", BOXCAR_FN(thresholdBackwardOut));
  m.impl("leaky_relu_backward", BOXCAR_FN(leakyReluBackward));
  m.impl("leaky_relu_backward.grad_input", BOXCAR_FN(leakyReluBackwardOut));
  m.impl("gelu_backward", BOXCAR_FN(geluBackward));
  m.impl("gelu_backward.grad_input", BOXCAR_FN(geluBackwardOut));
  m.impl("elu_backward", BOXCAR_FN(eluBackward));
  m.impl("elu_backward.grad_input", BOXCAR_FN(eluBackwardOut));
  m.impl("log_sigmoid_backward", BOXCAR_FN(logSigmoidBackward));
  m.impl("log_sigmoid_backward.grad_input", BOXCAR_FN(logSigmoidBackwardOut));
  m.impl("glu_backward", BOXCAR_FN(gluBackward));
  m.impl("glu_backward.grad_input", BOXCAR_FN(gluBackwardOut));
}

}  // namespace boxcar::native
