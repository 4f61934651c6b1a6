#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

// Elements at given places of the sorted order: quantiles, the k-th smallest, the most frequent. All are built from
// sort.

namespace boxcar::composite {
namespace {

using OptionalDim = std::optional<int64_t>;

enum class Interpolation { kLinear, kLower, kHigher, kMidpoint, kNearest };

Interpolation interpolationOf(std::string_view name) {
  constexpr std::pair<std::string_view, Interpolation> kNamed[] = {{"linear", Interpolation::kLinear},
                                                                   {"lower", Interpolation::kLower},
                                                                   {"higher", Interpolation::kHigher},
                                                                   {"midpoint", Interpolation::kMidpoint},
                                                                   {"nearest", Interpolation::kNearest}};
  for (const auto& [known, interpolation] : kNamed) {
    if (name == known) return interpolation;
  }
  BOXCAR_FAIL("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {}", name);
}

void checkQuantile(const Tensor& self, const Tensor& q) {
  BOXCAR_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  BOXCAR_CHECK(self.scalar_type() == ScalarType::Float || self.scalar_type() == ScalarType::Double,
               "quantile() input tensor must be either float or double dtype, but it is {}",
               dtypeName(self.scalar_type()));
  BOXCAR_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor, but it has {} dimensions", q.dim());
  BOXCAR_CHECK(q.scalar_type() == self.scalar_type(),
               "quantile() q tensor must be same dtype as the input tensor, {}, but it is {}",
               dtypeName(self.scalar_type()), dtypeName(q.scalar_type()));
  if (lacksElements(q) || q.numel() == 0) return;
  const auto [least, greatest] = boxcar::aminmax(q);
  const double low = boxcar::item(least).toDouble();
  const double high = boxcar::item(greatest).toDouble();
  BOXCAR_CHECK(low >= 0 && high <= 1, "quantile() q values must be in the range [0, 1], but they are from {} to {}",
               low, high);
}

// Returns the elements in rows, sorted, NaN last.
Tensor sortedRows(const Tensor& self, OptionalDim dim) {
  if (!dim.has_value() || self.dim() == 0) return std::get<0>(boxcar::sort(boxcar::reshape(self, {-1})));
  return std::get<0>(boxcar::sort(boxcar::movedim(self, *dim, -1)));
}

// Returns the places of [q] in each sorted row of [rows], as fractions.
Tensor ranksOf(const Tensor& rows, const Tensor& q, bool ignore_nan) {
  const Tensor is_nan = boxcar::isnan(rows);
  DimVector sizes = toDimVector(rows.sizes());
  sizes.back() = q.numel();
  if (ignore_nan) {
    const Tensor last = boxcar::sub(boxcar::sum(boxcar::logical_not(is_nan), {{-1}}, true), 1);
    const Tensor ranks = boxcar::mul(q, boxcar::to(last, q.scalar_type()));
    return boxcar::clamp(boxcar::expand(ranks, sizes), Scalar(0));
  }
  const auto last = static_cast<double>(rows.size(-1) - 1);
  const Tensor ranks = boxcar::expand(boxcar::mul(q, last), sizes);
  // A row with a NaN, which is its last element, has no quantile.
  return boxcar::masked_fill(ranks, boxcar::any(is_nan, -1, true), last);
}

Tensor interpolated(const Tensor& rows, Tensor ranks, Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kLower: ranks = boxcar::floor(ranks); break;
    case Interpolation::kHigher: ranks = boxcar::ceil(ranks); break;
    case Interpolation::kNearest: ranks = boxcar::round(ranks); break;
    default: break;
  }
  const Tensor below = boxcar::to(ranks, ScalarType::Long);
  Tensor values = boxcar::gather(rows, -1, below);
  if (interpolation != Interpolation::kLinear && interpolation != Interpolation::kMidpoint) return values;
  const Tensor weight =
      interpolation == Interpolation::kMidpoint ? boxcar::full_like(ranks, 0.5) : boxcar::sub(ranks, below);
  const Tensor above = boxcar::gather(rows, -1, boxcar::to(boxcar::ceil(ranks), ScalarType::Long));
  return boxcar::lerp(values, above, weight);
}

Tensor quantileOf(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim, std::string_view interpolation,
                  bool ignore_nan) {
  checkQuantile(self, q);
  const Interpolation between = interpolationOf(interpolation);
  if (dim.has_value()) dim = wrapDimension(*dim, self.dim());
  const Tensor rows = sortedRows(self, dim);
  Tensor result = interpolated(rows, ranksOf(rows, q, ignore_nan), between);
  // The quantiles are the last dimension, and become the first.
  result = q.dim() == 0 ? boxcar::squeeze(result, -1) : boxcar::movedim(result, -1, 0);
  if (!keepdim) return result;
  const int64_t front = q.dim();
  if (dim.has_value()) return self.dim() == 0 ? result : boxcar::unsqueeze(result, *dim + front);
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  if (front == 1) sizes.insert(sizes.begin(), q.numel());
  return boxcar::reshape(result, sizes);
}

Tensor scalarQ(const Tensor& self, double q) {
  BOXCAR_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got {}", q);
  return boxcar::scalar_tensor(q, self.scalar_type(), std::nullopt, self.device());
}

template <bool ignore_nan>
Tensor quantile(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim, std::string_view interpolation) {
  return quantileOf(self, q, dim, keepdim, interpolation, ignore_nan);
}
template <bool ignore_nan>
Tensor& quantileOut(const Tensor& self, const Tensor& q, OptionalDim dim, bool keepdim, std::string_view interpolation,
                    Tensor& out) {
  return writeSameType(out, quantileOf(self, q, dim, keepdim, interpolation, ignore_nan));
}
template <bool ignore_nan>
Tensor quantileScalar(const Tensor& self, double q, OptionalDim dim, bool keepdim, std::string_view interpolation) {
  return quantileOf(self, scalarQ(self, q), dim, keepdim, interpolation, ignore_nan);
}
template <bool ignore_nan>
Tensor& quantileScalarOut(const Tensor& self, double q, OptionalDim dim, bool keepdim, std::string_view interpolation,
                          Tensor& out) {
  return writeSameType(out, quantileOf(self, scalarQ(self, q), dim, keepdim, interpolation, ignore_nan));
}

using ValuesAndIndices = std::tuple<Tensor, Tensor>;

// Returns the elements at [place] of each sorted row along [dim]; [place] has one element a row.
ValuesAndIndices taken(const ValuesAndIndices& sorted, const Tensor& place, int64_t dim, bool keepdim) {
  Tensor values = boxcar::gather(std::get<0>(sorted), dim, place);
  Tensor indices = boxcar::gather(std::get<1>(sorted), dim, place);
  if (keepdim) return {std::move(values), std::move(indices)};
  return {boxcar::squeeze(values, dim), boxcar::squeeze(indices, dim)};
}

ValuesAndIndices ofScalar(const Tensor& self) {
  return {boxcar::clone(self), boxcar::zeros({}, ScalarType::Long, std::nullopt, self.device())};
}

ValuesAndIndices kthValue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  BOXCAR_CHECK(!self.is_complex(), "kthvalue(): complex numbers have no order; the input is {}",
               dtypeName(self.scalar_type()));
  const int64_t along = wrapDimension(dim, self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(along);
  BOXCAR_CHECK(k >= 1 && k <= size,
               "kthvalue(): selected number k out of range for dimension {}: k is {}, and its size "
               "{}",
               dim, k, size);
  if (self.dim() == 0) return ofScalar(self);
  const auto [values, indices] = boxcar::sort(self, std::optional<bool>(true), along, false);
  Tensor value = boxcar::clone(boxcar::narrow(values, along, k - 1, 1), MemoryFormat::Contiguous);
  Tensor index = boxcar::clone(boxcar::narrow(indices, along, k - 1, 1), MemoryFormat::Contiguous);
  if (keepdim) return {std::move(value), std::move(index)};
  return {boxcar::squeeze(value, along), boxcar::squeeze(index, along)};
}

// The longest run of equal elements in the sorted order.
ValuesAndIndices mode(const Tensor& self, int64_t dim, bool keepdim) {
  BOXCAR_CHECK(!self.is_complex(), "mode(): complex numbers have no order; the input is {}",
               dtypeName(self.scalar_type()));
  const int64_t along = wrapDimension(dim, self.dim());
  if (self.dim() == 0) return ofScalar(self);
  const int64_t size = self.size(along);
  BOXCAR_CHECK(size > 0, "mode(): Expected reduction dim {} to have non-zero size.", dim);
  const ValuesAndIndices sorted = boxcar::sort(self, std::optional<bool>(true), along, false);
  const Tensor& values = std::get<0>(sorted);
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[static_cast<size_t>(along)] = size;
  const Tensor place = boxcar::reshape(boxcar::arange(size, ScalarType::Long, std::nullopt, self.device()), shape);
  // Where a run begins; its elements have the same beginning, which makes the last one the farthest from it.
  Tensor begins = boxcar::ones_like(values, ScalarType::Bool);
  Tensor later = boxcar::narrow(begins, along, 1, size - 1);
  boxcar::copy_(later,
                boxcar::ne(boxcar::narrow(values, along, 1, size - 1), boxcar::narrow(values, along, 0, size - 1)));
  const Tensor start = std::get<0>(boxcar::cummax(boxcar::mul(place, begins), along));
  const Tensor longest = boxcar::argmax(boxcar::sub(place, start), along, true);
  return taken(sorted, longest, along, keepdim);
}

std::tuple<Tensor&, Tensor&> kthValueOut(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values,
                                         Tensor& indices) {
  meta::checkNoOverlap(values, self);
  return writeSameTypes(kthValue(self, k, dim, keepdim), values, indices);
}
std::tuple<Tensor&, Tensor&> modeOut(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  return writeSameTypes(boxcar::mode(self, dim, keepdim), values, indices);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("quantile", BOXCAR_FN(quantile<false>));
  m.impl("quantile.out", BOXCAR_FN(quantileOut<false>));
  m.impl("quantile.scalar", BOXCAR_FN(quantileScalar<false>));
  m.impl("quantile.scalar_out", BOXCAR_FN(quantileScalarOut<false>));
  m.impl("nanquantile", BOXCAR_FN(quantile<true>));
  m.impl("nanquantile.out", BOXCAR_FN(quantileOut<true>));
  m.impl("nanquantile.scalar", BOXCAR_FN(quantileScalar<true>));
  m.impl("nanquantile.scalar_out", BOXCAR_FN(quantileScalarOut<true>));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("kthvalue", BOXCAR_FN(kthValue));
  m.impl("kthvalue.values", BOXCAR_FN(kthValueOut));
  m.impl("mode", BOXCAR_FN(mode));
  m.impl("mode.values", BOXCAR_FN(modeOut));
}

}  // namespace boxcar::composite
