#include <boxcar/backends/functors/reduce_argmax.h>
#include <boxcar/backends/meta/reduction.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/reduction.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <optional>
#include <tuple>

// The positions of the greatest and least elements.

namespace boxcar::native {
namespace {

constexpr Reduction kArgmax = makeReduction<Argmax>("max", kRealAndBoolTypes);
constexpr Reduction kArgmin = makeReduction<Argmin>("min", kRealAndBoolTypes);

uint64_t checkedMask(std::string_view name, const Tensor& self, int64_t dim) {
  checkDense(self);
  const uint64_t mask = meta::dimensionBit(dim, self.dim());
  meta::checkReducedNotEmpty(name, self, mask);
  return mask;
}

// Without a dimension, indices refer to elements in contiguous order.
Tensor placeOf(const Reduction& op, std::string_view name, const Tensor& self, std::optional<int64_t> dim,
               bool keepdim) {
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool,
               "{}(): tensors of bools are not supported; convert to an integer dtype first", name);
  if (dim.has_value()) return reduce(op, self, checkedMask(name, self, *dim), keepdim);
  checkDense(self);
  meta::checkReducedDimsGiven(name, self);
  return reduce(op, toContiguous(self), ~uint64_t{0}, keepdim);
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return placeOf(kArgmax, "argmax", self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return placeOf(kArgmin, "argmin", self, dim, keepdim);
}
Tensor& argmaxOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  meta::checkOutType("argmax", out, ScalarType::Long);
  return writeResult(out, native::argmax(self, dim, keepdim));
}
Tensor& argminOut(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) {
  meta::checkOutType("argmin", out, ScalarType::Long);
  return writeResult(out, native::argmin(self, dim, keepdim));
}

std::tuple<Tensor, Tensor> valuesAndPlaces(const Reduction& op, const Tensor& self, int64_t dim, bool keepdim) {
  auto [places, values] = reduceToPair(op, self, checkedMask(op.name, self, dim), keepdim);
  return {std::move(values), std::move(places)};
}

std::tuple<Tensor&, Tensor&> writePair(const Reduction& op, const Tensor& self, int64_t dim, bool keepdim,
                                       Tensor& values, Tensor& places) {
  meta::checkOutType(op.name, values, self.scalar_type());
  meta::checkOutType(op.name, places, ScalarType::Long);
  return writeSameTypes(values, places, valuesAndPlaces(op, self, dim, keepdim), {&self});
}

std::tuple<Tensor, Tensor> maxDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndPlaces(kArgmax, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> minDim(const Tensor& self, int64_t dim, bool keepdim) {
  return valuesAndPlaces(kArgmin, self, dim, keepdim);
}
std::tuple<Tensor&, Tensor&> maxDimOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& places) {
  return writePair(kArgmax, self, dim, keepdim, values, places);
}
std::tuple<Tensor&, Tensor&> minDimOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& places) {
  return writePair(kArgmin, self, dim, keepdim, values, places);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runReduction) {
  m.impl("argmax", BOXCAR_FN(argmax));
  m.impl("argmax.out", BOXCAR_FN(argmaxOut));
  m.impl("argmin", BOXCAR_FN(argmin));
  m.impl("argmin.out", BOXCAR_FN(argminOut));
  m.impl("max.dim", BOXCAR_FN(maxDim));
  m.impl("max.dim_max", BOXCAR_FN(maxDimOut));
  m.impl("min.dim", BOXCAR_FN(minDim));
  m.impl("min.dim_min", BOXCAR_FN(minDimOut));
}

}  // namespace boxcar::native
