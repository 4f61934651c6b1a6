#include <boxcar/backends/meta/promotion.h>
#include <boxcar/backends/meta/sorting.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/scalar_tensor.h>
#include <boxcar/backends/native/search.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <optional>
#include <string_view>

namespace boxcar::native {

constinit DeviceStub<SearchRows> searchRows("searchsorted");

namespace {

using OptionalSide = std::optional<std::string_view>;

Tensor search(std::string_view name, const Tensor& boundaries, const Tensor& values, ScalarType common, bool out_int32,
              bool right, OptionalSide side, const std::optional<Tensor>& sorter) {
  checkSameDevice({&boundaries, &values});
  if (sorter.has_value()) checkSameDevice({&boundaries, &*sorter});
  const bool behind = meta::checkSearch(name, boundaries, values, right, side, sorter, out_int32);
  Tensor out = Tensor::allocate(values.sizes(), out_int32 ? ScalarType::Int : ScalarType::Long, values.device());
  if (out.is_meta() || out.numel() == 0) return out;
  searchRows(out.device(),
             {name, toContiguous(boundaries, common), toContiguous(values, common),
              sorter.has_value() ? toContiguous(*sorter) : Tensor(), behind},
             out);
  return out;
}

template <class Value>
ScalarType commonTypeOf(const Tensor& boundaries, const Value& value) {
  meta::TypePromotion types;
  types.add(boundaries);
  types.add(value);
  return types.result();
}

Tensor searchTensor(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, OptionalSide side,
                    const std::optional<Tensor>& sorter) {
  return search("searchsorted", sorted_sequence, self, commonTypeOf(sorted_sequence, self), out_int32, right, side,
                sorter);
}
Tensor& searchsortedOut(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                        OptionalSide side, const std::optional<Tensor>& sorter, Tensor& out) {
  return writeSameType(out, searchTensor(sorted_sequence, self, out_int32, right, side, sorter),
                       {&sorted_sequence, &self});
}

Tensor searchNumber(std::string_view name, const Tensor& boundaries, const Scalar& value, bool out_int32, bool right,
                    OptionalSide side, const std::optional<Tensor>& sorter) {
  checkDense(boundaries);
  const ScalarType common = commonTypeOf(boundaries, value);
  return search(name, boundaries, numberOn(boundaries.device(), value, common), common, out_int32, right, side, sorter);
}
Tensor searchsortedNumber(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                          OptionalSide side, const std::optional<Tensor>& sorter) {
  return searchNumber("searchsorted", sorted_sequence, self, out_int32, right, side, sorter);
}
Tensor& searchsortedNumberOut(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right,
                              OptionalSide side, const std::optional<Tensor>& sorter, Tensor& out) {
  return writeSameType(out, searchsortedNumber(sorted_sequence, self, out_int32, right, side, sorter),
                       {&sorted_sequence});
}

void checkBoundaries(const Tensor& boundaries) {
  BOXCAR_CHECK(boundaries.dim() == 1, "bucketize(): boundaries tensor must be 1 dimension, but got dim({})",
               boundaries.dim());
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  checkBoundaries(boundaries);
  return search("bucketize", boundaries, self, commonTypeOf(boundaries, self), out_int32, right, std::nullopt,
                std::nullopt);
}
Tensor& bucketizeOut(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right, Tensor& out) {
  return writeSameType(out, native::bucketize(self, boundaries, out_int32, right), {&self, &boundaries});
}
Tensor bucketizeNumber(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  checkBoundaries(boundaries);
  return searchNumber("bucketize", boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, searchRows) {
  m.impl("searchsorted.Tensor", BOXCAR_FN(searchTensor));
  m.impl("searchsorted.Tensor_out", BOXCAR_FN(searchsortedOut));
  m.impl("searchsorted.Scalar", BOXCAR_FN(searchsortedNumber));
  m.impl("searchsorted.Scalar_out", BOXCAR_FN(searchsortedNumberOut));
  m.impl("bucketize.Tensor", BOXCAR_FN(bucketize));
  m.impl("bucketize.Tensor_out", BOXCAR_FN(bucketizeOut));
  m.impl("bucketize.Scalar", BOXCAR_FN(bucketizeNumber));
}

}  // namespace boxcar::native
