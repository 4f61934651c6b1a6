#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <cstdint>

namespace boxcar::native {
namespace {

constexpr Pointwise makeSelection() {
  Pointwise op{"where", Functor::kSelect, Result::kSame, maskOf(kAllTypes)};
  op.has_condition = true;
  op.exact_output = true;
  return op;
}

constexpr Pointwise kWhere = makeSelection();

void checkCondition(const Tensor& condition) {
  BOXCAR_CHECK(condition.scalar_type() == ScalarType::Bool || condition.scalar_type() == ScalarType::Byte,
               "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
               condition.scalar_type());
}

Tensor whereSelf(const Tensor& condition, const Tensor& self, const Tensor& other) {
  checkCondition(condition);
  return pointwise(kWhere, {condition, self, other});
}
Tensor whereScalarSelf(const Tensor& condition, const Scalar& self, const Tensor& other) {
  checkCondition(condition);
  return pointwise(kWhere, {condition, self, other});
}
Tensor whereScalarOther(const Tensor& condition, const Tensor& self, const Scalar& other) {
  checkCondition(condition);
  return pointwise(kWhere, {condition, self, other});
}
Tensor whereScalar(const Tensor& condition, const Scalar& self, const Scalar& other) {
  checkCondition(condition);
  return pointwise(kWhere, {condition, self, other});
}
Tensor& whereSelfOut(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  checkCondition(condition);
  return pointwiseOut(kWhere, out, {condition, self, other});
}

void checkMask(const Tensor& mask) {
  BOXCAR_CHECK(mask.scalar_type() == ScalarType::Bool,
               "masked_fill_ only supports boolean masks, but got mask with dtype {}", mask.scalar_type());
}

// Returns the value converted to an element of [self]; the type of the value does not take part in promotion.
Scalar valueFor(const Tensor& self, const Scalar& value) {
  BOXCAR_CHECK(!value.isComplex() || self.is_complex() || self.scalar_type() == ScalarType::Bool,
               "masked_fill: the value {} is complex and cannot be an element of a tensor of dtype {}", value,
               self.scalar_type());
  if (self.scalar_type() != ScalarType::Bool) checkFits(value, self.scalar_type());
  alignas(16) std::byte element[16];
  storeNumber(element, self.scalar_type(), value);
  return loadNumber(element, self.scalar_type());
}
Scalar valueFor(const Tensor& self, const Tensor& value) {
  checkDense(value);
  BOXCAR_CHECK(value.dim() == 0,
               "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
               value.dim());
  if (!value.is_meta()) return valueFor(self, readNumber(value));
  meta::checkSameDevice(self.device(), value.device());
  return valueFor(self, Scalar(0));
}

Tensor& maskedFillInPlaceScalar(Tensor& self, const Tensor& mask, const Scalar& value) {
  checkMask(mask);
  return pointwiseInPlace(kWhere, self, {mask, valueFor(self, value), self});
}
Tensor& maskedFillInPlaceTensor(Tensor& self, const Tensor& mask, const Tensor& value) {
  checkMask(mask);
  return pointwiseInPlace(kWhere, self, {mask, valueFor(self, value), self});
}
// The result is contiguous, even if the inputs are not.
Tensor maskedFill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  checkMask(mask);
  if (self.is_contiguous() && mask.is_contiguous()) return pointwise(kWhere, {mask, value, self});
  const DimVector sizes = meta::broadcast(self.sizes(), mask.sizes());
  Tensor result = Tensor::allocate(sizes, self.scalar_type(), self.device());
  return pointwiseOut(kWhere, result, {mask, value, self});
}
Tensor maskedFillScalar(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return maskedFill(self, mask, valueFor(self, value));
}
Tensor maskedFillTensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return maskedFill(self, mask, valueFor(self, value));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  m.impl("where.self", BOXCAR_FN(whereSelf));
  m.impl("where.ScalarSelf", BOXCAR_FN(whereScalarSelf));
  m.impl("where.ScalarOther", BOXCAR_FN(whereScalarOther));
  m.impl("where.Scalar", BOXCAR_FN(whereScalar));
  m.impl("where.self_out", BOXCAR_FN(whereSelfOut));
  m.impl("masked_fill_.Scalar", BOXCAR_FN(maskedFillInPlaceScalar));
  m.impl("masked_fill_.Tensor", BOXCAR_FN(maskedFillInPlaceTensor));
  m.impl("masked_fill.Scalar", BOXCAR_FN(maskedFillScalar));
  m.impl("masked_fill.Tensor", BOXCAR_FN(maskedFillTensor));
}

}  // namespace boxcar::native
