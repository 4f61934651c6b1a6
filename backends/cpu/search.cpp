#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/elements/element.h>
#include <boxcar/backends/shape/promotion.h>
#include <boxcar/backends/shape/sorting.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace boxcar::cpu {
namespace {

using OptionalSide = std::optional<std::string_view>;

// How many of the [count] boundaries lie before [value]; those equal to it do if [right]. NaN lies behind all.
template <class T>
int64_t placeOf(T element, const T* boundaries, const int64_t* sorter, int64_t count, bool right) {
  const auto value = static_cast<Compute<T>>(element);
  int64_t first = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    const int64_t middle = first + half;
    const auto boundary = static_cast<Compute<T>>(boundaries[sorter != nullptr ? sorter[middle] : middle]);
    const bool before = right ? !(boundary > value) : !(boundary >= value);
    first = before ? middle + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

void checkSorter(std::string_view name, const Tensor& sorter, int64_t length) {
  const auto* places = static_cast<const int64_t*>(sorter.data_ptr());
  const int64_t count = sorter.numel();
  for (int64_t i = 0; i < count; ++i) {
    BOXCAR_CHECK(places[i] >= 0 && places[i] < length, "{}(): sorter has index {}, but there are {} boundaries", name,
                 places[i], length);
  }
}

// All are contiguous. Boundaries of one dimension are those of all values, else each row has its own.
template <class T, class Out>
void searchRows(const Tensor& out, const Tensor& boundaries, const Tensor& values, const int64_t* sorter, bool right) {
  const auto* elements = static_cast<const T*>(values.data_ptr());
  const auto* bounds = static_cast<const T*>(boundaries.data_ptr());
  auto* places = static_cast<Out*>(out.data_ptr());
  const int64_t count = boundaries.sizes().back();
  const int64_t row = boundaries.dim() == 1 ? values.numel() : values.sizes().back();
  parallelFor(0, values.numel(), kParallelGrain / 16, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / row * count;
      const int64_t* order = sorter != nullptr ? sorter + start : nullptr;
      places[i] = static_cast<Out>(placeOf<T>(elements[i], bounds + start, order, count, right));
    }
  });
}

Tensor search(std::string_view name, const Tensor& boundaries, const Tensor& values, ScalarType common, bool out_int32,
              bool right, OptionalSide side, const std::optional<Tensor>& sorter) {
  checkSameDevice({&boundaries, &values});
  if (sorter.has_value()) checkSameDevice({&boundaries, &*sorter});
  const bool behind = shape::checkSearch(name, boundaries, values, right, side, sorter, out_int32);
  Tensor out = Tensor::allocate(values.sizes(), out_int32 ? ScalarType::Int : ScalarType::Long, values.device());
  if (out.is_meta() || out.numel() == 0) return out;
  const auto prepared = [&](const Tensor& tensor) {
    return toContiguous(tensor.scalar_type() == common ? tensor : convertTo(tensor, common));
  };
  const Tensor bounds = prepared(boundaries);
  const Tensor elements = prepared(values);
  const Tensor order = sorter.has_value() ? toContiguous(*sorter) : Tensor();
  if (sorter.has_value()) checkSorter(name, order, boundaries.sizes().back());
  const auto* places = sorter.has_value() ? static_cast<const int64_t*>(order.data_ptr()) : nullptr;
  visitScalarType(kRealTypes, common, name, [&]<class T>(std::type_identity<T>) {
    if (out_int32) return searchRows<T, int32_t>(out, bounds, elements, places, behind);
    searchRows<T, int64_t>(out, bounds, elements, places, behind);
  });
  return out;
}

template <class Value>
ScalarType commonTypeOf(const Tensor& boundaries, const Value& value) {
  shape::TypePromotion types;
  types.add(boundaries);
  types.add(value);
  return types.result();
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, OptionalSide side,
                    const std::optional<Tensor>& sorter) {
  return search("searchsorted", sorted_sequence, self, commonTypeOf(sorted_sequence, self), out_int32, right, side,
                sorter);
}
Tensor& searchsortedOut(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                        OptionalSide side, const std::optional<Tensor>& sorter, Tensor& out) {
  return writeSameType(out, searchsorted(sorted_sequence, self, out_int32, right, side, sorter),
                       {&sorted_sequence, &self});
}

Tensor searchNumber(std::string_view name, const Tensor& boundaries, const Scalar& value, bool out_int32, bool right,
                    OptionalSide side, const std::optional<Tensor>& sorter) {
  checkCpuOrMeta(boundaries);
  const ScalarType common = commonTypeOf(boundaries, value);
  const Tensor number =
      boundaries.is_meta() ? Tensor::allocate({}, common, boundaries.device()) : numberTensor(value, common);
  return search(name, boundaries, number, common, out_int32, right, side, sorter);
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
  return writeSameType(out, bucketize(self, boundaries, out_int32, right), {&self, &boundaries});
}
Tensor bucketizeNumber(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  checkBoundaries(boundaries);
  return searchNumber("bucketize", boundaries, self, out_int32, right, std::nullopt, std::nullopt);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  m.impl("searchsorted.Tensor", BOXCAR_FN(searchsorted));
  m.impl("searchsorted.Tensor_out", BOXCAR_FN(searchsortedOut));
  m.impl("searchsorted.Scalar", BOXCAR_FN(searchsortedNumber));
  m.impl("searchsorted.Scalar_out", BOXCAR_FN(searchsortedNumberOut));
  m.impl("bucketize.Tensor", BOXCAR_FN(bucketize));
  m.impl("bucketize.Tensor_out", BOXCAR_FN(bucketizeOut));
  m.impl("bucketize.Scalar", BOXCAR_FN(bucketizeNumber));
}

}  // namespace boxcar::cpu
