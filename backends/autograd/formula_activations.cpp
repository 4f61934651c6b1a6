#include <boxcar/backends/autograd/formula_functions.h>

#include <cmath>
#include <numbers>
#include <vector>

// Second derivatives of activations, and functions of formulas of other functions of elements.

namespace boxcar::autograd {
namespace {

// sigmoid'(x), from s = sigmoid(x).
Tensor logisticSlope(const Tensor& s) { return s * (1 - s); }

// [slope] where x is not within rounding of 0, else [at_zero].
Tensor awayFromZero(const Tensor& x, const Tensor& slope, const Tensor& at_zero) {
  const double eps = x.scalar_type() == ScalarType::Double ? 0x1p-52 : 0x1p-23;
  return boxcar::where(boxcar::abs(x) <= eps, at_zero, slope);
}
// [x], with the least numbers that are not 0 by rounding in place of such.
Tensor safeDivisor(const Tensor& x) {
  const double eps = x.scalar_type() == ScalarType::Double ? 0x1p-52 : 0x1p-23;
  return boxcar::masked_fill(x, boxcar::abs(x) <= eps, eps);
}
Tensor oneHalf(const Tensor& like) { return boxcar::full_like(like, 0.5); }

// Half of [grad] where self is at [bound].
Tensor halvedAt(const Tensor& grad, const Tensor& is_at_bound) { return boxcar::where(is_at_bound, grad / 2, grad); }

bool isBound(const std::optional<Tensor>& bound) { return bound.has_value() && bound->defined(); }

}  // namespace

Scalar reciprocal_of(const Scalar& number) { return Scalar(1 / number.toDouble()); }

Tensor gelu_curvature(const Tensor& self, std::string_view approximate) {
  if (approximate == "tanh") {
    constexpr double kFactor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    constexpr double kCubic = 0.044715;
    const Tensor value = boxcar::tanh(kFactor * (self + kCubic * power(self, 3)));
    const Tensor inner = kFactor * (1 + 3 * kCubic * power(self, 2));
    const Tensor slope = 1 - power(value, 2);
    return slope * (inner - self * value * power(inner, 2) + 3 * kFactor * kCubic * power(self, 2));
  }
  const Tensor density = boxcar::exp(power(self, 2) * -0.5) * (std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
  return density * (2 - power(self, 2));
}

Tensor silu_curvature(const Tensor& self) {
  const Tensor s = boxcar::sigmoid(self);
  return logisticSlope(s) * (2 + self * (1 - 2 * s));
}

Tensor mish_curvature(const Tensor& self) {
  const Tensor s = boxcar::sigmoid(self);
  const Tensor factor = boxcar::tanh(boxcar::softplus(self));
  const Tensor rest = 1 - power(factor, 2);
  return rest * s * (2 + self * (1 - s - 2 * factor * s));
}

Tensor softplus_second(const Tensor& grads, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  const Tensor scaled_self = self * beta;
  const Tensor slope = logisticSlope(boxcar::sigmoid(scaled_self)) * beta;
  return boxcar::where(scaled_self < threshold, grads * slope, zero_of(grads));
}

Tensor elu_second(const Tensor& grads, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale,
                  bool is_result, const Tensor& self_or_result) {
  const Tensor outer = grads * input_scale;
  const Tensor slope =
      is_result ? outer : outer * input_scale * scale * alpha * boxcar::exp(self_or_result * input_scale);
  return boxcar::where(self_or_result < 0, slope, zero_of(grads));
}

Tensor glu_second_grad(const Tensor& grad, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> inputs = boxcar::chunk(self, 2, dim);
  const std::vector<Tensor> grads = boxcar::chunk(grad, 2, dim);
  const Tensor s = boxcar::sigmoid(inputs[1]);
  return grads[0] * s + grads[1] * inputs[0] * logisticSlope(s);
}

Tensor glu_second_self(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const std::vector<Tensor> inputs = boxcar::chunk(self, 2, dim);
  const std::vector<Tensor> grads = boxcar::chunk(grad, 2, dim);
  const Tensor s = boxcar::sigmoid(inputs[1]);
  const Tensor sloped = grad_output * logisticSlope(s);
  return boxcar::cat({{grads[1] * sloped, (grads[0] + grads[1] * inputs[0] * (1 - 2 * s)) * sloped}}, dim);
}

Tensor logit_second(const Tensor& grads, const Tensor& self, std::optional<double> eps) {
  Tensor slope = grads * (2 * self - 1) / power(self * (1 - self), 2);
  if (!eps.has_value()) return slope;
  const Tensor is_inside = boxcar::logical_and(self >= *eps, self <= 1 - *eps);
  return boxcar::where(is_inside, slope, zero_of(grads));
}

// At a bound, both get half, unless the bounds are equal.
Tensor clamp_tensors_self(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                          const std::optional<Tensor>& max) {
  if (!isBound(max)) return boxcar::masked_fill(halvedAt(grad, self == *min), self < *min, 0);
  if (!isBound(min)) return boxcar::masked_fill(halvedAt(grad, self == *max), self > *max, 0);
  const Tensor is_at_bound = boxcar::logical_and(*min < *max, boxcar::logical_or(self == *min, self == *max));
  return boxcar::masked_fill(halvedAt(grad, is_at_bound), boxcar::logical_or(self<*min, self> * max), 0);
}
Tensor clamp_tensors_min(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max) {
  if (!isBound(min)) return {};
  if (!isBound(max)) return boxcar::masked_fill(halvedAt(grad, self == *min), self > *min, 0);
  const Tensor is_at_bound = boxcar::logical_and(*min < *max, self == *min);
  const Tensor is_below = boxcar::logical_and(*min <= *max, self < *min);
  return boxcar::where(is_below, grad, boxcar::where(is_at_bound, grad / 2, zero_of(grad)));
}
Tensor clamp_tensors_max(const Tensor& grad, const Tensor& self, const std::optional<Tensor>& min,
                         const std::optional<Tensor>& max) {
  if (!isBound(max)) return {};
  if (!isBound(min)) return boxcar::masked_fill(halvedAt(grad, self == *max), self < *max, 0);
  const Tensor is_at_bound = boxcar::logical_and(*min < *max, self == *max);
  const Tensor is_above = boxcar::logical_or(*max<*min, self> * max);
  return boxcar::where(is_above, grad, boxcar::where(is_at_bound, grad / 2, zero_of(grad)));
}

Tensor igamma_other(const Tensor& grad, const Tensor& self, const Tensor& other) {
  return grad * boxcar::exp((self - 1) * boxcar::log(other) - other - boxcar::lgamma(self));
}
Tensor zeta_other(const Tensor& grad, const Tensor& self, const Tensor& other) {
  return -grad * self * boxcar::special_zeta(self + 1, other);
}
Tensor xlog1py_self(const Tensor& grad, const Tensor& self, const Scalar& other) {
  const Tensor log = boxcar::special_xlog1py(grad, other);
  return other.toDouble() > -1 ? log : boxcar::masked_fill(log, boxcar::eq(self, 0), 0);
}

Tensor i1_slope(const Tensor& x, const Tensor& result) {
  const Tensor safe = safeDivisor(x);
  return awayFromZero(x, boxcar::i0(safe) - result / safe, oneHalf(x));
}
Tensor i1e_slope(const Tensor& x, const Tensor& result) {
  const Tensor safe = safeDivisor(x);
  return awayFromZero(x, boxcar::special_i0e(safe) - result * (boxcar::sgn(safe) + boxcar::reciprocal(safe)),
                      oneHalf(x));
}
Tensor j1_slope(const Tensor& x, const Tensor& result) {
  const Tensor safe = safeDivisor(x);
  return awayFromZero(x, boxcar::special_bessel_j0(safe) - result / safe, oneHalf(x));
}
Tensor y1_slope(const Tensor& x, const Tensor& result) {
  const Tensor quotient = result / x;
  return awayFromZero(x, boxcar::special_bessel_y0(x) - quotient, -result / boxcar::abs(x));
}

}  // namespace boxcar::autograd
