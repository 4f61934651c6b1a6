#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/functors/activation_constants.h>
#include <boxcar/backends/meta/defined.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

// Pointwise operators built from others.

namespace boxcar::composite {
namespace {

bool isIntegral(const Tensor& self) { return isIntegralType(self.scalar_type(), /*includeBool=*/true); }

// Whole exponents of floats are exact: powers of two that are out of the range of float16 give results within it.
bool scalesExactly(const Tensor& self, const Tensor& other) { return self.is_floating_point() && isIntegral(other); }
Tensor ldexpExactly(const Tensor& self, const Tensor& other) {
  const ScalarType type = self.scalar_type();
  const bool is_small = type == ScalarType::Half || type == ScalarType::BFloat16;
  const ScalarType wide = is_small ? ScalarType::Float : ScalarType::Double;
  return boxcar::to(boxcar::mul(boxcar::to(self, wide), boxcar::pow(2.0, boxcar::to(other, wide))), type);
}
// Like PyTorch, takes a single exponent in float64 if the operand has it.
Tensor powerOfTwo(const Tensor& self, const Tensor& other) {
  const bool widens = other.dim() == 0 && other.is_floating_point() && self.scalar_type() == ScalarType::Double;
  return boxcar::pow(2.0, widens ? boxcar::to(other, ScalarType::Double) : other);
}
Tensor ldexp(const Tensor& self, const Tensor& other) {
  if (scalesExactly(self, other)) return ldexpExactly(self, other);
  return boxcar::mul(self, powerOfTwo(self, other));
}
Tensor& ldexpInPlace(Tensor& self, const Tensor& other) {
  if (scalesExactly(self, other)) return boxcar::copy_(self, ldexpExactly(self, other));
  return boxcar::mul_(self, powerOfTwo(self, other));
}
Tensor& ldexpOut(const Tensor& self, const Tensor& other, Tensor& out) {
  if (scalesExactly(self, other)) return writeResult(out, ldexpExactly(self, other));
  return boxcar::mul_out(out, self, powerOfTwo(self, other));
}

bool isComplex(const Tensor& tensor) { return tensor.is_complex(); }
bool isComplex(const Scalar& number) { return number.isComplex(); }

// float_power computes in float64 or complex128.
template <class Base, class Exponent>
ScalarType powerType(const Base& base, const Exponent& exponent) {
  return isComplex(base) || isComplex(exponent) ? ScalarType::ComplexDouble : ScalarType::Double;
}
Tensor inType(const Tensor& tensor, ScalarType type) { return boxcar::to(tensor, type); }
Scalar inType(const Scalar& number, ScalarType type) {
  return type == ScalarType::ComplexDouble ? Scalar(number.toComplexDouble()) : Scalar(number.toDouble());
}

template <class Base, class Exponent>
Tensor floatPower(const Base& self, const Exponent& exponent) {
  const ScalarType type = powerType(self, exponent);
  return boxcar::pow(inType(self, type), inType(exponent, type));
}
template <class Base, class Exponent>
Tensor& floatPowerOut(const Base& self, const Exponent& exponent, Tensor& out) {
  const ScalarType type = powerType(self, exponent);
  BOXCAR_CHECK(out.scalar_type() == type,
               "the output given to float_power has dtype {} but the operation's result requires dtype {}",
               out.scalar_type(), type);
  return boxcar::pow_out(out, inType(self, type), inType(exponent, type));
}
template <class Exponent>
Tensor& floatPowerInPlace(Tensor& self, const Exponent& exponent) {
  const ScalarType type = powerType(self, exponent);
  BOXCAR_CHECK(self.scalar_type() == type,
               "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
               self.scalar_type(), type);
  return boxcar::pow_(self, inType(exponent, type));
}

constexpr double kDegrees = 180 / std::numbers::pi;

Tensor radToDeg(const Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "rad2deg is not supported for complex tensors.");
  return boxcar::mul(self, kDegrees);
}
Tensor& radToDegInPlace(Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "rad2deg is not supported for complex tensors.");
  return boxcar::mul_(self, kDegrees);
}
// Converts a number to a tensor, for operators whose out= variant accepts only tensors.
Tensor numberLike(const Tensor& self, const Scalar& value) {
  // A number of the default dtype would lose digits.
  const auto dtype = self.scalar_type() == ScalarType::Double ? std::optional(ScalarType::Double) : std::nullopt;
  return boxcar::scalar_tensor(value, dtype, std::nullopt, self.device());
}
Tensor& radToDegOut(const Tensor& self, Tensor& out) {
  BOXCAR_CHECK(!self.is_complex(), "rad2deg is not supported for complex tensors.");
  return boxcar::mul_out(out, self, numberLike(self, kDegrees));
}
Tensor degToRad(const Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "deg2rad is not supported for complex tensors.");
  return boxcar::mul(self, 1 / kDegrees);
}
Tensor& degToRadInPlace(Tensor& self) {
  BOXCAR_CHECK(!self.is_complex(), "deg2rad is not supported for complex tensors.");
  return boxcar::mul_(self, 1 / kDegrees);
}
Tensor& degToRadOut(const Tensor& self, Tensor& out) {
  BOXCAR_CHECK(!self.is_complex(), "deg2rad is not supported for complex tensors.");
  return boxcar::mul_out(out, self, numberLike(self, 1 / kDegrees));
}

Tensor isInf(const Tensor& self) {
  if (isIntegral(self)) return boxcar::zeros_like(self, ScalarType::Bool);
  if (self.is_complex()) {
    return boxcar::bitwise_or(boxcar::isinf(boxcar::real(self)), boxcar::isinf(boxcar::imag(self)));
  }
  return boxcar::eq(boxcar::abs(self), std::numeric_limits<double>::infinity());
}

Tensor isFinite(const Tensor& self) {
  if (isIntegral(self)) return boxcar::ones_like(self, ScalarType::Bool);
  if (self.is_complex()) {
    return boxcar::bitwise_and(boxcar::isfinite(boxcar::real(self)), boxcar::isfinite(boxcar::imag(self)));
  }
  // NaN compares false.
  return boxcar::lt(boxcar::abs(self), std::numeric_limits<double>::infinity());
}

Tensor isClose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  BOXCAR_CHECK(self.scalar_type() == other.scalar_type(), "isclose: {} did not match {}", self.scalar_type(),
               other.scalar_type());
  BOXCAR_CHECK(rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got {}", rtol);
  BOXCAR_CHECK(atol >= 0, "isclose: atol must be greater than or equal to zero, but got {}", atol);
  Tensor close = boxcar::eq(self, other);
  if (equal_nan && (self.is_floating_point() || self.is_complex())) {
    close = boxcar::bitwise_or(close, boxcar::bitwise_and(boxcar::isnan(self), boxcar::isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;
  const bool integral = isIntegral(self);
  const Tensor a = self.scalar_type() == ScalarType::Bool ? boxcar::to(self, ScalarType::Float) : self;
  const Tensor b = integral ? boxcar::to(other, ScalarType::Float) : other;
  const Tensor allowed = boxcar::add(boxcar::abs(boxcar::mul(b, rtol)), atol);
  const Tensor actual = boxcar::abs(boxcar::sub(a, b));
  const Tensor near = boxcar::bitwise_and(boxcar::isfinite(actual), boxcar::le(actual, allowed));
  return boxcar::bitwise_or(close, near);
}

bool allClose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return boxcar::item(boxcar::all(boxcar::isclose(self, other, rtol, atol, equal_nan))).toBool();
}

bool isNonzero(const Tensor& self) {
  BOXCAR_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  BOXCAR_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous, here {}",
               self.numel());
  const Scalar value = boxcar::item(self);
  return value.isComplex() ? value.toComplexDouble() != 0.0 : value.toBool();
}

Tensor positive(const Tensor& self) {
  meta::checkDefined(self);
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

bool isComplexTensor(const Tensor& self) {
  meta::checkDefined(self);
  return self.is_complex();
}

Tensor& maxOtherOut(const Tensor& self, const Tensor& other, Tensor& out) {
  return boxcar::maximum_out(out, self, other);
}
Tensor& minOtherOut(const Tensor& self, const Tensor& other, Tensor& out) {
  return boxcar::minimum_out(out, self, other);
}

Tensor relu6(const Tensor& self) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool, "Boolean inputs not supported for relu6");
  return boxcar::hardtanh(self, 0, 6);
}
Tensor& relu6InPlace(Tensor& self) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool, "Boolean inputs not supported for relu6");
  return boxcar::hardtanh_(self, 0, 6);
}

Tensor selu(const Tensor& self) { return boxcar::elu(self, functors::kSeluAlpha, functors::kSeluScale); }
Tensor& seluInPlace(Tensor& self) { return boxcar::elu_(self, functors::kSeluAlpha, functors::kSeluScale); }

void checkCelu(const Scalar& alpha) {
  BOXCAR_CHECK(alpha.toDouble() != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
}
Tensor celu(const Tensor& self, const Scalar& alpha) {
  checkCelu(alpha);
  return boxcar::elu(self, alpha, 1.0, 1 / alpha.toDouble());
}
Tensor& celuInPlace(Tensor& self, const Scalar& alpha) {
  checkCelu(alpha);
  return boxcar::elu_(self, alpha, 1.0, 1 / alpha.toDouble());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("ldexp.Tensor", BOXCAR_FN(ldexp));
  m.impl("ldexp_", BOXCAR_FN(ldexpInPlace));
  m.impl("ldexp.out", BOXCAR_FN(ldexpOut));
  m.impl("float_power.Tensor_Tensor", BOXCAR_FN((floatPower<Tensor, Tensor>)));
  m.impl("float_power.Tensor_Scalar", BOXCAR_FN((floatPower<Tensor, Scalar>)));
  m.impl("float_power.Scalar", BOXCAR_FN((floatPower<Scalar, Tensor>)));
  m.impl("float_power.Tensor_Tensor_out", BOXCAR_FN((floatPowerOut<Tensor, Tensor>)));
  m.impl("float_power.Tensor_Scalar_out", BOXCAR_FN((floatPowerOut<Tensor, Scalar>)));
  m.impl("float_power.Scalar_out", BOXCAR_FN((floatPowerOut<Scalar, Tensor>)));
  m.impl("float_power_.Tensor", BOXCAR_FN(floatPowerInPlace<Tensor>));
  m.impl("float_power_.Scalar", BOXCAR_FN(floatPowerInPlace<Scalar>));
  m.impl("isfinite", BOXCAR_FN(isFinite));
  m.impl("isclose", BOXCAR_FN(isClose));
  m.impl("is_nonzero", BOXCAR_FN(isNonzero));
  m.impl("positive", BOXCAR_FN(positive));
  m.impl("is_complex", BOXCAR_FN(isComplexTensor));
  m.impl("max.out", BOXCAR_FN(maxOtherOut));
  m.impl("min.out", BOXCAR_FN(minOtherOut));
  m.impl("relu6", BOXCAR_FN(relu6));
  m.impl("relu6_", BOXCAR_FN(relu6InPlace));
  m.impl("selu", BOXCAR_FN(selu));
  m.impl("selu_", BOXCAR_FN(seluInPlace));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("rad2deg", BOXCAR_FN(radToDeg));
  m.impl("rad2deg_", BOXCAR_FN(radToDegInPlace));
  m.impl("rad2deg.out", BOXCAR_FN(radToDegOut));
  m.impl("deg2rad", BOXCAR_FN(degToRad));
  m.impl("deg2rad_", BOXCAR_FN(degToRadInPlace));
  m.impl("deg2rad.out", BOXCAR_FN(degToRadOut));
  m.impl("isinf", BOXCAR_FN(isInf));
  m.impl("allclose", BOXCAR_FN(allClose));
  m.impl("celu", BOXCAR_FN(celu));
  m.impl("celu_", BOXCAR_FN(celuInPlace));
}

}  // namespace boxcar::composite
