#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/storage_without_memory.h>
#include <boxcar/ops.h>

#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Operators that look up elements, built from gather, scatter, index_select and nonzero.

namespace boxcar::composite {
namespace {

Tensor argwhere(const Tensor& self) { return boxcar::nonzero(self); }

std::vector<Tensor> nonzeroNumpy(const Tensor& self) {
  // Copies, because the schema promises tensors with memory of their own.
  std::vector<Tensor> columns = boxcar::unbind(boxcar::nonzero(self.dim() == 0 ? boxcar::unsqueeze(self, 0) : self), 1);
  for (Tensor& column : columns) column = boxcar::clone(column);
  return columns;
}

std::vector<Tensor> where(const Tensor& condition) { return boxcar::nonzero_numpy(condition); }

// Broadcasts [self] and [indices] together in all dimensions except [dim], which becomes non-negative.
std::pair<Tensor, Tensor> broadcastAlong(const Tensor& self, const Tensor& indices, int64_t& dim) {
  BOXCAR_CHECK(
      self.dim() == indices.dim(),
      "take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for "
      "input, and {} dimensions for indices",
      self.dim(), indices.dim());
  dim = wrapDimension(dim, self.dim());
  if (self.dim() == 0) return {self, indices};
  const auto along = static_cast<size_t>(dim);
  DimVector sizes = toDimVector(self.sizes());
  sizes[along] = indices.sizes()[along];
  const DimVector index_sizes = meta::broadcast(sizes, indices.sizes());
  sizes = toDimVector(indices.sizes());
  sizes[along] = self.sizes()[along];
  const DimVector self_sizes = meta::broadcast(sizes, self.sizes());
  return {boxcar::expand(self, self_sizes), boxcar::expand(indices, index_sizes)};
}

// What take_along_dim gathers from, with which indices, along which dimension.
struct Taking {
  Tensor self;
  Tensor indices;
  int64_t dim = 0;
};

Taking takingAlong(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  BOXCAR_CHECK(indices.scalar_type() == ScalarType::Long,
               "take_along_dim(): dtype of indices should be Long but got {}", indices.scalar_type());
  const int64_t all[] = {-1};
  if (!dim.has_value()) return {boxcar::view(self, all), boxcar::view(indices, all)};
  Taking taking{self, indices, *dim};
  const int64_t size = self.dim() == 0 ? 1 : self.size(wrapDimension(*dim, self.dim()));
  // Indices before the first element or after the last one start again at the other end.
  if (size > 0) taking.indices = boxcar::remainder(indices, size);
  std::tie(taking.self, taking.indices) = broadcastAlong(self, taking.indices, taking.dim);
  return taking;
}

Tensor takeAlongDim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taking taking = takingAlong(self, indices, dim);
  return boxcar::gather(taking.self, taking.dim, taking.indices);
}

Tensor& takeAlongDimOut(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim, Tensor& out) {
  const Taking taking = takingAlong(self, indices, dim);
  return boxcar::gather_out(out, taking.self, taking.dim, taking.indices);
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t /*padding_idx*/, bool /*scale_grad_by_freq*/,
                 bool /*sparse*/) {
  BOXCAR_CHECK(weight.dim() == 2, "embedding(): 'weight' must be 2-D, but it has {} dimension(s)", weight.dim());
  BOXCAR_CHECK(indices.scalar_type() == ScalarType::Long || indices.scalar_type() == ScalarType::Int,
               "embedding(): Expected indices of dtype int64 or int32, found {}", dtypeName(indices.scalar_type()));
  if (indices.dim() == 1) return boxcar::index_select(weight, 0, indices);
  DimVector sizes = toDimVector(indices.sizes());
  sizes.push_back(weight.sizes()[1]);
  const int64_t all[] = {indices.numel()};
  return boxcar::view(boxcar::index_select(weight, 0, boxcar::reshape(indices, all)), sizes);
}

// Returns the minimum number of classes. Throws Error if [self] holds a negative one.
int64_t classesIn(const Tensor& self) {
  BOXCAR_CHECK(!self.is_meta(),
               "one_hot(): the number of classes depends on elements, and tensors on Meta have none; give num_classes");
  const int64_t least = boxcar::item(boxcar::min(self)).toLong();
  BOXCAR_CHECK(least >= 0, "one_hot(): Class values must be non-negative, but there is {}", least);
  const int64_t greatest = boxcar::item(boxcar::max(self)).toLong();
  BOXCAR_CHECK(greatest < std::numeric_limits<int64_t>::max(), "one_hot(): class {} is too large", greatest);
  return greatest + 1;
}

Tensor oneHot(const Tensor& self, int64_t num_classes) {
  BOXCAR_CHECK(self.scalar_type() == ScalarType::Long, "one_hot is only applicable to index tensors of int64, not {}",
               dtypeName(self.scalar_type()));
  DimVector sizes = toDimVector(self.sizes());
  if (self.numel() == 0) {
    BOXCAR_CHECK(num_classes > 0, "one_hot(): cannot infer the number of classes from an empty tensor");
    sizes.push_back(num_classes);
    return boxcar::empty(sizes, ScalarType::Long, std::nullopt, self.device());
  }
  BOXCAR_CHECK(num_classes == -1 || num_classes > 0, "one_hot(): num_classes should be positive, but it is {}",
               num_classes);
  if (self.key_set().has(DispatchKey::FuncTorchBatched)) {  // each slice has elements of its own
    BOXCAR_CHECK(num_classes != -1,
                 "one_hot(): the number of classes depends on elements, which differ inside func::vmap(); give "
                 "num_classes");
    const Tensor classes = boxcar::arange(num_classes, ScalarType::Long, std::nullopt, self.device());
    return boxcar::to(boxcar::eq(boxcar::unsqueeze(self, -1), classes), ScalarType::Long);
  }
  if (num_classes == -1 || !lacksElements(self)) {
    const int64_t found = classesIn(self);
    BOXCAR_CHECK(num_classes == -1 || found <= num_classes,
                 "one_hot(): Class values must be smaller than num_classes, {}, but there is {}", num_classes,
                 found - 1);
    if (num_classes == -1) num_classes = found;
  }
  sizes.push_back(num_classes);
  Tensor result = boxcar::zeros(sizes, ScalarType::Long, std::nullopt, self.device());
  return boxcar::scatter_(result, -1, boxcar::unsqueeze(self, -1), 1);
}

// == Unsafe and masked indices ==

using Indices = List<std::optional<Tensor>>;

void checkUnsafeIndices(const Indices& indices, std::string_view op) {
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value() || !index->defined()) continue;
    BOXCAR_CHECK(index->scalar_type() == ScalarType::Long || index->scalar_type() == ScalarType::Int,
                 "{}: expected indices of int64 or int32, but got {}", op, dtypeName(index->scalar_type()));
  }
}

Tensor unsafeIndex(const Tensor& self, const Indices& indices) {
  checkUnsafeIndices(indices, "_unsafe_index");
  return boxcar::index(self, indices);
}

Tensor unsafeIndexPut(const Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) {
  return boxcar::index_put(self, indices, values, accumulate);
}

void checkIndexMask(const Tensor& mask, const char* op) {
  BOXCAR_CHECK(mask.scalar_type() == ScalarType::Bool, "{}: expected a mask of bools, but got {}", op,
               dtypeName(mask.scalar_type()));
}

// Returns [indices] with those outside of [self] moved to its ends.
Indices clampedInto(const Tensor& self, const Indices& indices) {
  BOXCAR_CHECK(indices.size() <= self.sizes().size(), "too many indices for tensor of dimension {} (got {})",
               self.dim(), indices.size());
  Indices clamped;
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    const std::optional<Tensor> index = indices[dim];
    if (!index.has_value() || !index->defined()) {
      clamped.push_back(std::nullopt);
      continue;
    }
    const int64_t size = self.sizes()[dim];
    clamped.push_back(boxcar::clamp(*index, Scalar(-size), Scalar(size - 1)));
  }
  return clamped;
}

Tensor unsafeMaskedIndex(const Tensor& self, const Tensor& mask, const Indices& indices, const Scalar& fill) {
  constexpr const char* kName = "_unsafe_masked_index";
  checkIndexMask(mask, kName);
  checkUnsafeIndices(indices, kName);
  if (self.numel() == 0) return boxcar::full(mask.sizes(), fill, self.scalar_type(), std::nullopt, self.device());
  return boxcar::masked_fill(boxcar::index(self, clampedInto(self, indices)), boxcar::logical_not(mask), fill);
}

Tensor unsafeMaskedIndexPutAccumulate(const Tensor& self, const Tensor& mask, const Indices& indices,
                                      const Tensor& values) {
  constexpr const char* kName = "_unsafe_masked_index_put_accumulate";
  checkIndexMask(mask, kName);
  checkUnsafeIndices(indices, kName);
  if (self.numel() == 0) return boxcar::clone(self);
  const Tensor added = boxcar::masked_fill(values, boxcar::logical_not(mask), 0);
  return boxcar::index_put(self, clampedInto(self, indices), added, /*accumulate=*/true);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("argwhere", BOXCAR_FN(argwhere));
  m.impl("nonzero_numpy", BOXCAR_FN(nonzeroNumpy));
  m.impl("where", BOXCAR_FN(where));
  m.impl("take_along_dim", BOXCAR_FN(takeAlongDim));
  m.impl("take_along_dim.out", BOXCAR_FN(takeAlongDimOut));
  m.impl("one_hot", BOXCAR_FN(oneHot));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("embedding", BOXCAR_FN(embedding));
  m.impl("_unsafe_index.Tensor", BOXCAR_FN(unsafeIndex));
  m.impl("_unsafe_index_put", BOXCAR_FN(unsafeIndexPut));
  m.impl("_unsafe_masked_index", BOXCAR_FN(unsafeMaskedIndex));
  m.impl("_unsafe_masked_index_put_accumulate", BOXCAR_FN(unsafeMaskedIndexPutAccumulate));
}

}  // namespace boxcar::composite
