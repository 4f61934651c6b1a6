#include <boxcar/backends/functors/pointwise_power.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>

namespace boxcar::native {
namespace {

constexpr Pointwise kPow = makePointwise<Pow, 2, Result::kSame>("pow", kNumberTypes);

constexpr Pointwise kSquare = makePointwise<Square, 1, Result::kSame>("pow", kNumberTypes);

constexpr Pointwise kCube = makePointwise<Cube, 1, Result::kSame>("pow", kNumberTypes);

constexpr Pointwise kRoot = makePointwise<Root, 1, Result::kSame>("pow", kContinuousTypes);

constexpr Pointwise kInverseRoot = makePointwise<InverseRoot, 1, Result::kSame>("pow", kContinuousTypes);

constexpr Pointwise kInverse = makePointwise<Inverse, 1, Result::kSame>("pow", kContinuousTypes);

constexpr Pointwise kInverseSquare = makePointwise<InverseSquare, 1, Result::kSame>("pow", kContinuousTypes);

// Returns the unary operator for x ** exponent; null if there is none or the type of x would change.
const Pointwise* shortWay(const Tensor& self, const Scalar& exponent) {
  const bool continuous = self.is_floating_point() || self.is_complex();
  if (exponent.isComplex() || exponent.isBoolean() || self.scalar_type() == ScalarType::Bool) return nullptr;
  if (!continuous && !exponent.isIntegral(/*includeBool=*/false)) return nullptr;
  const double value = exponent.toDouble();
  if (value == 2) return &kSquare;
  if (value == 3) return &kCube;
  if (!continuous) return nullptr;
  if (value == 0.5) return &kRoot;
  if (value == -0.5) return &kInverseRoot;
  if (value == -1) return &kInverse;
  return value == -2 ? &kInverseSquare : nullptr;
}

void checkExponent(const Tensor& self, const Scalar& exponent) {
  BOXCAR_CHECK(!(isIntegralType(self.scalar_type(), /*includeBool=*/true) &&
                 exponent.isIntegral(/*includeBool=*/true) && exponent.toLong() < 0),
               "Integers to negative integer powers are not allowed.");
}

Tensor powTensorTensor(const Tensor& self, const Tensor& exponent) { return pointwise(kPow, {self, exponent}); }

Tensor powTensorScalar(const Tensor& self, const Scalar& exponent) {
  checkExponent(self, exponent);
  if (const Pointwise* op = shortWay(self, exponent)) return pointwise(*op, {self});
  return pointwise(kPow, {self, exponent});
}

// The result is contiguous, even if the exponents are not.
Tensor powScalar(const Scalar& self, const Tensor& exponent) { return pointwise(kPow, {self, toContiguous(exponent)}); }

Tensor& powInPlaceTensor(Tensor& self, const Tensor& exponent) {
  return pointwiseInPlace(kPow, self, {self, exponent});
}

Tensor& powInPlaceScalar(Tensor& self, const Scalar& exponent) {
  checkExponent(self, exponent);
  if (const Pointwise* op = shortWay(self, exponent)) return pointwiseInPlace(*op, self, {self});
  return pointwiseInPlace(kPow, self, {self, exponent});
}

Tensor& powScalarOut(const Tensor& self, const Scalar& exponent, Tensor& out) {
  checkExponent(self, exponent);
  if (const Pointwise* op = shortWay(self, exponent)) return pointwiseOut(*op, out, {self});
  return pointwiseOut(kPow, out, {self, exponent});
}

Tensor& powNumberOut(const Scalar& self, const Tensor& exponent, Tensor& out) {
  return pointwiseOut(kPow, out, {self, exponent});
}

Tensor& powOut(const Tensor& self, const Tensor& exponent, Tensor& out) {
  return pointwiseOut(kPow, out, {self, exponent});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  m.impl("pow.Tensor_Tensor", BOXCAR_FN(powTensorTensor));
  m.impl("pow.Tensor_Scalar", BOXCAR_FN(powTensorScalar));
  m.impl("pow.Scalar", BOXCAR_FN(powScalar));
  m.impl("pow_.Tensor", BOXCAR_FN(powInPlaceTensor));
  m.impl("pow_.Scalar", BOXCAR_FN(powInPlaceScalar));
  m.impl("pow.Scalar_out", BOXCAR_FN(powNumberOut));
  m.impl("pow.Tensor_Scalar_out", BOXCAR_FN(powScalarOut));
  m.impl("pow.Tensor_Tensor_out", BOXCAR_FN(powOut));
}

}  // namespace boxcar::native
