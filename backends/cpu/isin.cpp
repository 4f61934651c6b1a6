#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/arithmetic.h>
#include <boxcar/backends/shape/promotion.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <vector>

namespace boxcar::cpu {
namespace {

// For each of [n] elements, whether it is among the numbers of [tested], which are sorted here; NaN is among none.
template <class T>
void findEach(const T* elements, int64_t n, const T* tested, int64_t tested_count, bool invert, bool* found) {
  using C = Compute<T>;
  std::vector<C> sorted;
  sorted.reserve(static_cast<size_t>(tested_count));
  for (int64_t i = 0; i < tested_count; ++i) {
    if (!isNan(static_cast<C>(tested[i]))) sorted.push_back(static_cast<C>(tested[i]));
  }
  std::sort(sorted.begin(), sorted.end());
  // Few numbers are compared one by one.
  constexpr size_t kFew = 16;
  parallelFor(0, n, kParallelGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const C element = static_cast<C>(elements[i]);
      const bool is_in = sorted.size() <= kFew
                             ? std::find(sorted.begin(), sorted.end(), element) != sorted.end()
                             : !isNan(element) && std::binary_search(sorted.begin(), sorted.end(), element);
      found[i] = is_in != invert;
    }
  });
}

Tensor inType(const Tensor& tensor, ScalarType type) {
  return toContiguous(tensor.scalar_type() == type ? tensor : convertTo(tensor, type));
}

ScalarType commonType(const Tensor& elements, const Tensor& tested) {
  shape::TypePromotion types;
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
  const Tensor a = inType(elements, common);
  const Tensor b = inType(tested, common);
  visitScalarType(kRealTypes, common, "isin", [&]<class T>(std::type_identity<T>) {
    findEach(static_cast<const T*>(a.data_ptr()), a.numel(), static_cast<const T*>(b.data_ptr()), b.numel(), invert,
             static_cast<bool*>(result.data_ptr()));
  });
  return result;
}

// A number as a tensor that yields to the other's type.
Tensor wrapped(const Scalar& number, Device device) {
  Tensor result = Tensor::allocate({}, number.type(), device);
  if (!result.is_meta()) storeNumber(result.data_ptr(), number.type(), number);
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

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("isin.Tensor_Tensor", BOXCAR_FN(isinTensors));
  m.impl("isin.Tensor_Scalar", BOXCAR_FN(isinTensorScalar));
  m.impl("isin.Scalar_Tensor", BOXCAR_FN(isinScalarTensor));
  m.impl("isin.Tensor_Tensor_out", BOXCAR_FN(isinTensorsOut));
  m.impl("isin.Tensor_Scalar_out", BOXCAR_FN(isinTensorScalarOut));
  m.impl("isin.Scalar_Tensor_out", BOXCAR_FN(isinScalarTensorOut));
}

}  // namespace boxcar::cpu
