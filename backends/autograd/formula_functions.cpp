#include <boxcar/backends/autograd/formula_functions.h>
#include <boxcar/dispatcher/call/grad_mode.h>

#include <numbers>

namespace boxcar::autograd {

Tensor operator+(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? boxcar::add(a, b) : a;
}
Tensor operator-(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return -b;
  return b.defined() ? boxcar::sub(a, b) : a;
}
Tensor operator*(const Tensor& a, const Tensor& b) { return a.defined() && b.defined() ? boxcar::mul(a, b) : Tensor(); }
Tensor operator/(const Tensor& a, const Tensor& b) { return a.defined() ? boxcar::div(a, b) : Tensor(); }
Tensor operator-(const Tensor& a) { return a.defined() ? boxcar::neg(a) : Tensor(); }
Tensor operator+(const Tensor& a, const Scalar& b) { return boxcar::add(a, b); }
Tensor operator-(const Tensor& a, const Scalar& b) { return boxcar::sub(a, b); }
Tensor operator*(const Tensor& a, const Scalar& b) { return a.defined() ? boxcar::mul(a, b) : Tensor(); }
Tensor operator/(const Tensor& a, const Scalar& b) { return a.defined() ? boxcar::div(a, b) : Tensor(); }
Tensor operator+(const Scalar& a, const Tensor& b) { return boxcar::add(b, a); }
Tensor operator-(const Scalar& a, const Tensor& b) { return boxcar::rsub(b, a); }
Tensor operator*(const Scalar& a, const Tensor& b) { return b * a; }

Tensor conjugate(const Tensor& x) { return x.defined() && x.is_complex() ? boxcar::conj(x) : x; }
Scalar conjugate(const Scalar& x) { return x.isComplex() ? Scalar(std::conj(x.toComplexDouble())) : x; }

Tensor times(const Tensor& tensor, const Scalar& number) {
  const bool is_one = number.isComplex() ? number.toComplexDouble() == 1.0 : number.toDouble() == 1;
  return is_one ? tensor : tensor * number;
}
Tensor scaled(const Tensor& grad, const Scalar& number) { return times(grad, conjugate(number)); }

Tensor right_factor(const Tensor& left, const Tensor& grad, bool is_turned) {
  // A weight's gradient is then not copied when it is accumulated.
  if (is_turned) return boxcar::t(boxcar::mm(boxcar::t(grad), conjugate(left)));
  return boxcar::mm(conjugate(boxcar::t(left)), grad);
}

Tensor wrapped(const Scalar& number) {
  Tensor tensor = boxcar::scalar_tensor(number, number.type());
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

Scalar operator-(int64_t a, const Scalar& b) {
  if (b.isComplex()) return Scalar(static_cast<double>(a) - b.toComplexDouble());
  return b.isFloatingPoint() ? Scalar(static_cast<double>(a) - b.toDouble()) : Scalar(a - b.toLong());
}

Tensor at_zero(const Tensor& grad, const Tensor& x, const Tensor& excepted) {
  return boxcar::masked_fill(grad, boxcar::logical_and(boxcar::eq(x, 0), excepted), 0);
}

Tensor div_mode_self(const Tensor& grad, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return rounding_mode.has_value() ? boxcar::zeros_like(grad) : grad / conjugate(other);
}
Tensor div_mode_self(const Tensor& grad, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return rounding_mode.has_value() ? boxcar::zeros_like(grad) : grad / conjugate(other);
}
Tensor div_mode_other(const Tensor& grad, const Tensor& self, const Tensor& other,
                      std::optional<std::string_view> rounding_mode) {
  return rounding_mode.has_value() ? boxcar::zeros_like(grad) : -grad * conjugate((self / other) / other);
}

Tensor pow_self(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  const bool is_zero = exponent.isComplex() ? exponent.toComplexDouble() == 0.0 : exponent.toDouble() == 0;
  if (is_zero) return boxcar::zeros_like(self);
  const Scalar less = exponent.isComplex()         ? Scalar(exponent.toComplexDouble() - 1.0)
                      : exponent.isFloatingPoint() ? Scalar(exponent.toDouble() - 1)
                                                   : Scalar(exponent.toLong() - 1);
  // The power 1 of a complex 0 has no second derivative.
  const bool is_square = !exponent.isComplex() && exponent.toDouble() == 2;
  return grad * conjugate(boxcar::mul(is_square ? self : boxcar::pow(self, less), exponent));
}
Tensor pow_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  // 0 where the exponent is 0, also where self is 0 and the power -1 infinite.
  const Tensor factor = conjugate(exponent * boxcar::pow(self, exponent - 1));
  return boxcar::masked_fill(grad * factor, boxcar::eq(exponent, 0), 0);
}
Tensor pow_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  // 0 ** x is 0 for all x near a positive one.
  const Tensor is_flat = exponent.is_complex()
                             ? boxcar::logical_and(boxcar::eq(self, 0), boxcar::ge(boxcar::real(exponent), 0))
                             : boxcar::logical_and(boxcar::eq(self, 0), boxcar::ge(exponent, 0));
  return grad * boxcar::masked_fill(conjugate(result * boxcar::log(self)), is_flat, 0);
}

Tensor copysign_self(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return boxcar::masked_fill(grad * (result / self), boxcar::eq(self, 0), 0);
}
Tensor xlogy_self(const Tensor& grad, const Tensor& self, const Scalar& other) {
  const Tensor log = grad * boxcar::log(wrapped(other));
  return other.toDouble() > 0 ? log : boxcar::masked_fill(log, boxcar::eq(self, 0), 0);
}

Tensor angle_self(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return boxcar::zeros_like(self);
  const Tensor real = boxcar::real(self);
  const Tensor imaginary = boxcar::imag(self);
  const Tensor square = real * real + imaginary * imaginary;
  const Tensor direction = boxcar::complex(-imaginary / square, real / square);
  return boxcar::masked_fill(grad * direction, boxcar::eq(self, 0), 0);
}

Tensor sgn_self(const Tensor& grad, const Tensor& self, const Tensor& sgn) {
  if (!self.is_complex()) return boxcar::zeros_like(self);
  // The part of grad that is orthogonal to sgn, over the absolute value.
  const Tensor along = boxcar::real(boxcar::mul(conjugate(grad), sgn));
  return boxcar::masked_fill((grad - sgn * along) / boxcar::abs(self), boxcar::eq(self, 0), 0);
}

Tensor clamp_self(const Tensor& grad, const Tensor& self, const std::optional<Scalar>& min,
                  const std::optional<Scalar>& max) {
  if (min.has_value() && max.has_value()) {
    return boxcar::where(boxcar::logical_and(self > *min, self < *max), grad, 0);
  }
  return boxcar::where(min.has_value() ? self > *min : self < *max, grad, 0);
}

Tensor sinc_self(const Tensor& grad, const Tensor& self) {
  const Tensor angle = self * std::numbers::pi;
  const Tensor divisor = angle * self;
  const Tensor slope = (boxcar::cos(angle) * angle - boxcar::sin(angle)) / divisor;
  return grad * boxcar::masked_fill(conjugate(slope), boxcar::eq(divisor, 0), 0);
}

}  // namespace boxcar::autograd
