#include <boxcar/backends/functors/pointwise_arithmetic.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>

#include <optional>

namespace boxcar::native {
namespace {

constexpr Pointwise kAdd = makePointwise<Add, 2, Result::kSame>("add", kAllTypes);

constexpr Pointwise kAddScaled = makePointwise<AddScaled, 2, Result::kSame>("add", kAllTypes);

constexpr Pointwise kSub = makePointwise<Sub, 2, Result::kSame>("sub", kNumberTypes);

constexpr Pointwise kSubScaled = makePointwise<SubScaled, 2, Result::kSame>("sub", kNumberTypes);

constexpr Pointwise kDiv = makePointwise<Div, 2, Result::kFloat>("div", kContinuousTypes);

constexpr Pointwise kDivTrunc = makePointwise<DivTrunc, 2, Result::kSame>("div", kRealTypes);

constexpr Pointwise kFloorDivide = makePointwise<FloorDivide, 2, Result::kSame>("floor_divide", kRealTypes);

ScalarType commonType(const Input& a, const Input& b) {
  meta::TypePromotion types;
  for (const Input* input : {&a, &b}) {
    if (input->number() != nullptr) {
      types.add(*input->number());
    } else {
      types.add(*input->tensor());
    }
  }
  return types.result();
}

bool isBool(const Input& input) {
  return input.number() != nullptr ? input.number()->isBoolean() : input.tensor()->scalar_type() == ScalarType::Bool;
}

// Checks alpha, and returns whether add and sub must multiply by it, which they need not if it is 1.
bool scales(const Scalar& alpha, const Input& a, const Input& b) {
  if (alpha.isIntegral(/*includeBool=*/false) && alpha.toLong() == 1) [[likely]]
    return false;
  const ScalarType common = commonType(a, b);
  BOXCAR_CHECK(!alpha.isBoolean() || common == ScalarType::Bool, "Boolean alpha only supported for Boolean results.");
  BOXCAR_CHECK(isFloatingType(common) || isComplexType(common) || alpha.isIntegral(/*includeBool=*/true),
               "For integral input tensors, argument alpha must not be a floating point number.");
  BOXCAR_CHECK(isComplexType(common) || !alpha.isComplex(),
               "For non-complex input tensors, argument alpha must not be a complex number.");
  return true;
}

const Pointwise& addition(const Input& a, const Input& b, const Scalar& alpha) {
  return scales(alpha, a, b) ? kAddScaled : kAdd;
}

const Pointwise& subtraction(const Input& a, const Input& b, const Scalar& alpha) {
  if (isBool(a) || isBool(b)) [[unlikely]] {
    BOXCAR_CHECK(!(isBool(a) && isBool(b)),
                 "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                 "`logical_xor()` operator instead.");
    BOXCAR_FAIL(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.");
  }
  return scales(alpha, a, b) ? kSubScaled : kSub;
}

Tensor addTensor(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return pointwise(addition(self, other, alpha), {self, other}, &alpha);
}

Tensor addScalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwise(addition(self, other, alpha), {self, other}, &alpha);
}

Tensor& addInPlaceTensor(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return pointwiseInPlace(addition(self, other, alpha), self, {self, other}, &alpha);
}

Tensor& addInPlaceScalar(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwiseInPlace(addition(self, other, alpha), self, {self, other}, &alpha);
}

Tensor& addOut(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  return pointwiseOut(addition(self, other, alpha), out, {self, other}, &alpha);
}

Tensor subTensor(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return pointwise(subtraction(self, other, alpha), {self, other}, &alpha);
}

Tensor subScalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwise(subtraction(self, other, alpha), {self, other}, &alpha);
}

Tensor& subInPlaceTensor(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return pointwiseInPlace(subtraction(self, other, alpha), self, {self, other}, &alpha);
}

Tensor& subInPlaceScalar(Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwiseInPlace(subtraction(self, other, alpha), self, {self, other}, &alpha);
}

Tensor& subOut(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) {
  return pointwiseOut(subtraction(self, other, alpha), out, {self, other}, &alpha);
}

Tensor rsubTensor(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return pointwise(subtraction(other, self, alpha), {other, self}, &alpha);
}

Tensor rsubScalar(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return pointwise(subtraction(other, self, alpha), {other, self}, &alpha);
}

const Pointwise& division(std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode.has_value()) return kDiv;
  if (*rounding_mode == "trunc") return kDivTrunc;
  BOXCAR_CHECK(*rounding_mode == "floor",
               "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'", *rounding_mode);
  return kFloorDivide;
}

using Mode = std::optional<std::string_view>;

Tensor divTensor(const Tensor& self, const Tensor& other) { return pointwise(kDiv, {self, other}); }

Tensor divScalar(const Tensor& self, const Scalar& other) { return pointwise(kDiv, {self, other}); }

Tensor& divInPlaceTensor(Tensor& self, const Tensor& other) { return pointwiseInPlace(kDiv, self, {self, other}); }

Tensor& divInPlaceScalar(Tensor& self, const Scalar& other) { return pointwiseInPlace(kDiv, self, {self, other}); }

Tensor& divOut(const Tensor& self, const Tensor& other, Tensor& out) { return pointwiseOut(kDiv, out, {self, other}); }

Tensor divTensorMode(const Tensor& self, const Tensor& other, Mode rounding_mode) {
  return pointwise(division(rounding_mode), {self, other});
}

Tensor divScalarMode(const Tensor& self, const Scalar& other, Mode rounding_mode) {
  return pointwise(division(rounding_mode), {self, other});
}

Tensor& divInPlaceTensorMode(Tensor& self, const Tensor& other, Mode rounding_mode) {
  return pointwiseInPlace(division(rounding_mode), self, {self, other});
}

Tensor& divInPlaceScalarMode(Tensor& self, const Scalar& other, Mode rounding_mode) {
  return pointwiseInPlace(division(rounding_mode), self, {self, other});
}

Tensor& divOutMode(const Tensor& self, const Tensor& other, Mode rounding_mode, Tensor& out) {
  return pointwiseOut(division(rounding_mode), out, {self, other});
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  m.impl("add.Tensor", BOXCAR_FN(addTensor));
  m.impl("add.Scalar", BOXCAR_FN(addScalar));
  m.impl("add_.Tensor", BOXCAR_FN(addInPlaceTensor));
  m.impl("add_.Scalar", BOXCAR_FN(addInPlaceScalar));
  m.impl("add.out", BOXCAR_FN(addOut));
  m.impl("sub.Tensor", BOXCAR_FN(subTensor));
  m.impl("sub.Scalar", BOXCAR_FN(subScalar));
  m.impl("sub_.Tensor", BOXCAR_FN(subInPlaceTensor));
  m.impl("sub_.Scalar", BOXCAR_FN(subInPlaceScalar));
  m.impl("sub.out", BOXCAR_FN(subOut));
  m.impl("rsub.Tensor", BOXCAR_FN(rsubTensor));
  m.impl("rsub.Scalar", BOXCAR_FN(rsubScalar));
  m.impl("div.Tensor", BOXCAR_FN(divTensor));
  m.impl("div.Scalar", BOXCAR_FN(divScalar));
  m.impl("div_.Tensor", BOXCAR_FN(divInPlaceTensor));
  m.impl("div_.Scalar", BOXCAR_FN(divInPlaceScalar));
  m.impl("div.out", BOXCAR_FN(divOut));
  m.impl("div.Tensor_mode", BOXCAR_FN(divTensorMode));
  m.impl("div.Scalar_mode", BOXCAR_FN(divScalarMode));
  m.impl("div_.Tensor_mode", BOXCAR_FN(divInPlaceTensorMode));
  m.impl("div_.Scalar_mode", BOXCAR_FN(divInPlaceScalarMode));
  m.impl("div.out_mode", BOXCAR_FN(divOutMode));

  BOXCAR_REGISTER_POINTWISE(BOXCAR_ARITHMETIC_TABLE, m)
}

}  // namespace boxcar::native
