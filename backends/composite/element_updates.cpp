#include <boxcar/backends/composite/write_out.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/output.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <span>
#include <string_view>

// Operators that change chosen elements, built from index_put_ and scatter_reduce.

namespace boxcar::composite {
namespace {

void checkPut(const Tensor& self, const Tensor& index, const Tensor& source) {
  BOXCAR_CHECK(index.scalar_type() == ScalarType::Long, "put_(): Expected a long tensor for index, but got {}",
               index.scalar_type());
  BOXCAR_CHECK(source.scalar_type() == self.scalar_type(),
               "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
               self.scalar_type(), source.scalar_type());
  BOXCAR_CHECK(index.numel() == source.numel(),
               "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, "
               "index.numel() = {}",
               source.numel(), index.numel());
  BOXCAR_CHECK(self.numel() > 0 || index.numel() == 0, "put_(): Tried to put elements into an empty tensor");
}

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  checkPut(self, index, source);
  Tensor result = boxcar::clone(self);
  if (index.numel() == 0) return result;
  const Tensor in_order = boxcar::contiguous(result);
  Tensor row = boxcar::view(in_order, {-1});
  List<std::optional<Tensor>> indices;
  indices.push_back(boxcar::reshape(index, {-1}));
  boxcar::index_put_(row, indices, boxcar::reshape(source, {-1}), accumulate);
  return in_order.is_same(result) ? result : boxcar::copy_(result, in_order);
}
Tensor& putInPlace(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  meta::checkNoInternalOverlap(self);
  return boxcar::copy_(self, boxcar::put(self, index, source, accumulate));
}

Tensor indexReduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                   bool include_self) {
  BOXCAR_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
               "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {}.", reduce);
  BOXCAR_CHECK(index.dim() <= 1, "index_reduce(): Index is supposed to be a vector, but it has {} dimensions",
               index.dim());
  BOXCAR_CHECK(index.scalar_type() == ScalarType::Long || index.scalar_type() == ScalarType::Int,
               "index_reduce(): Expected dtype int32/int64 for index, but got {}", dtypeName(index.scalar_type()));
  BOXCAR_CHECK(self.scalar_type() == source.scalar_type(),
               "index_reduce(): self ({}) and source ({}) must have the same scalar type",
               dtypeName(self.scalar_type()), dtypeName(source.scalar_type()));
  const int64_t along = wrapDimension(dim, self.dim());
  BOXCAR_CHECK(source.dim() == self.dim(),
               "index_reduce(): source must have as many dimensions as self, {}, but has {}", self.dim(), source.dim());
  BOXCAR_CHECK(index.numel() == (source.dim() == 0 ? 1 : source.size(along)),
               "index_reduce(): Number of indices ({}) should be equal to source.size(dim): ({})", index.numel(),
               source.dim() == 0 ? 1 : source.size(along));
  for (int64_t i = 0; i < self.dim(); ++i) {
    BOXCAR_CHECK(
        i == along || self.size(i) == source.size(i),
        "index_reduce(): source must have the sizes of self apart from dimension {}, but self has [{}] and source "
        "[{}]",
        dim, fmt::join(self.sizes(), ", "), fmt::join(source.sizes(), ", "));
  }
  DimVector sizes(static_cast<size_t>(source.dim()), 1);
  if (source.dim() > 0) sizes[static_cast<size_t>(along)] = index.numel();
  const Tensor everywhere = boxcar::expand(boxcar::reshape(boxcar::to(index, ScalarType::Long), sizes), source.sizes());
  return boxcar::scatter_reduce(self, dim, everywhere, source, reduce, include_self);
}
Tensor& indexReduceInPlace(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                           std::string_view reduce, bool include_self) {
  meta::checkNoInternalOverlap(self);
  meta::checkNoOverlap(self, source);
  meta::checkNoOverlap(self, index);
  return boxcar::copy_(self, indexReduce(self, dim, index, source, reduce, include_self));
}
Tensor& indexReduceOut(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                       std::string_view reduce, bool include_self, Tensor& out) {
  return writeSameType(out, indexReduce(self, dim, index, source, reduce, include_self));
}

Tensor nonzeroStatic(const Tensor& self, int64_t size, int64_t fill_value) {
  BOXCAR_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer, but got {}", size);
  Tensor result = boxcar::full({size, self.dim()}, fill_value, ScalarType::Long, std::nullopt, self.device());
  if (self.is_meta() || size == 0) return result;
  const Tensor found = boxcar::nonzero(self);
  const int64_t count = std::min(size, found.size(0));
  Tensor first = boxcar::narrow(result, 0, 0, count);
  boxcar::copy_(first, boxcar::narrow(found, 0, 0, count));
  return result;
}
Tensor& nonzeroStaticOut(const Tensor& self, int64_t size, int64_t fill_value, Tensor& out) {
  return writeSameType(out, nonzeroStatic(self, size, fill_value));
}

// Scales the slices of a dimension whose norms are too large.
Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  BOXCAR_CHECK(!p.isComplex() && p.toDouble() > 0, "renorm: non-positive-norm not supported");
  BOXCAR_CHECK(!maxnorm.isComplex() && maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got {}",
               maxnorm);
  BOXCAR_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got {} dimensions", self.dim());
  BOXCAR_CHECK(self.is_floating_point() || self.is_complex(),
               "renorm: expected a floating-point or complex input, got {}", dtypeName(self.scalar_type()));
  const int64_t along = wrapDimension(dim, self.dim());
  DimVector others;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != along) others.push_back(i);
  }
  const Tensor norms = boxcar::linalg_vector_norm(self, p, std::span<const int64_t>(others), true);
  // PyTorch's constant keeps the quotient of small norms finite.
  const Tensor factor = boxcar::div(boxcar::full_like(norms, maxnorm), boxcar::add(norms, 1e-7));
  return boxcar::mul(boxcar::contiguous(self),
                     boxcar::where(boxcar::gt(norms, maxnorm), factor, boxcar::ones_like(norms)));
}
Tensor& renormInPlace(Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  meta::checkNoInternalOverlap(self);
  return boxcar::copy_(self, boxcar::renorm(self, p, dim, maxnorm));
}
Tensor& renormOut(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm, Tensor& out) {
  return writeSameType(out, boxcar::renorm(self, p, dim, maxnorm));
}

Tensor distance(const Tensor& self, const Tensor& other, const Scalar& p) {
  return boxcar::norm(boxcar::sub(self, other), p);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("put", BOXCAR_FN(put));
  m.impl("put_", BOXCAR_FN(putInPlace));
  m.impl("index_reduce", BOXCAR_FN(indexReduce));
  m.impl("index_reduce_", BOXCAR_FN(indexReduceInPlace));
  m.impl("index_reduce.out", BOXCAR_FN(indexReduceOut));
  m.impl("nonzero_static", BOXCAR_FN(nonzeroStatic));
  m.impl("nonzero_static.out", BOXCAR_FN(nonzeroStaticOut));
  m.impl("renorm", BOXCAR_FN(renorm));
  m.impl("renorm_", BOXCAR_FN(renormInPlace));
  m.impl("renorm.out", BOXCAR_FN(renormOut));
  m.impl("dist", BOXCAR_FN(distance));
}

}  // namespace boxcar::composite
