#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/isin.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/scalar_tensor.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::native {

constinit DeviceStub<FindEach> findEach("isin");

namespace {

ScalarType commonType(const Tensor& elements, const Tensor& tested) {
  meta::TypePromotion types;
  types.add(elements);
  types.add(tested);
  const ScalarType common = types.result();
  for (const Tensor* tensor : {&elements, &tested}) {
    BOXCAR_CHECK(tensor->scalar_type() != ScalarType::Bool && !tensor->is_complex(),
                 "Unsupported input type encountered for isin(): {}", tensor->scalar_type());
  }
  return common;
}

Tensor isinTensors(const Tensor& elements, const Tensor& tested, bool, bool invert) {
  const Device device = commonDevice({&elements, &tested});
  const ScalarType common = commonType(elements, tested);
  Tensor result = Tensor::allocate(elements.sizes(), ScalarType::Bool, device);
  if (result.is_meta()) return result;
  findEach(device, result, toDevice(toContiguous(elements, common), device),
           toDevice(toContiguous(tested, common), device), invert);
  return result;
}

// Returns the number as a wrapped tensor, whose type has lower priority in promotion.
Tensor wrapped(const Scalar& number, Device device) {
  Tensor result = numberOn(device, number, number.type());
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

Tensor isinTensorScalar(const Tensor& elements, const Scalar& tested, bool assume_unique, bool invert) {
  return isinTensors(elements, wrapped(tested, elements.device()), assume_unique, invert);
}
Tensor isinScalarTensor(const Scalar& element, const Tensor& tested, bool assume_unique, bool invert) {
  return isinTensors(wrapped(element, tested.device()), tested, assume_unique, invert);
}
void checkOut(const Tensor& out) {
  BOXCAR_CHECK(out.scalar_type() == ScalarType::Bool, "Expected out tensor to have dtype bool, but got {} instead",
               out.scalar_type());
}
Tensor& isinTensorsOut(const Tensor& elements, const Tensor& tested, bool assume_unique, bool invert, Tensor& out) {
  checkOut(out);
  return writeResult(out, isinTensors(elements, tested, assume_unique, invert));
}
Tensor& isinTensorScalarOut(const Tensor& elements, const Scalar& tested, bool assume_unique, bool invert,
                            Tensor& out) {
  checkOut(out);
  return writeResult(out, isinTensorScalar(elements, tested, assume_unique, invert));
}
Tensor& isinScalarTensorOut(const Scalar& element, const Tensor& tested, bool assume_unique, bool invert, Tensor& out) {
  checkOut(out);
  return writeResult(out, isinScalarTensor(element, tested, assume_unique, invert));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, findEach) {
  m.impl("isin.Tensor_Tensor", BOXCAR_FN(isinTensors));
  m.impl("isin.Tensor_Scalar", BOXCAR_FN(isinTensorScalar));
  m.impl("isin.Scalar_Tensor", BOXCAR_FN(isinScalarTensor));
  m.impl("isin.Tensor_Tensor_out", BOXCAR_FN(isinTensorsOut));
  m.impl("isin.Tensor_Scalar_out", BOXCAR_FN(isinTensorScalarOut));
  m.impl("isin.Scalar_Tensor_out", BOXCAR_FN(isinScalarTensorOut));
}

}  // namespace boxcar::native
