#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/part_list.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

// Views: different sizes, strides and offset over the same storage. They access no elements, so one kernel serves all
// backends.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using OptionalInt = std::optional<int64_t>;

size_t dimOf(const Tensor& self, int64_t dim) {
  if (dim >= 0 && dim < self.dim()) [[likely]]
    return static_cast<size_t>(dim);
  return static_cast<size_t>(wrapDimension(dim, self.dim()));
}

Tensor alias(const Tensor& self) { return self.view(self.sizes(), self.strides(), self.storage_offset()); }

Tensor detach(const Tensor& self) { return self.shallowCopy(); }

Tensor reshapeAlias(const Tensor& self, IntSpan size, IntSpan stride) {
  return self.view(size, stride, self.storage_offset());
}

Tensor asStrided(const Tensor& self, IntSpan size, IntSpan stride, OptionalInt storage_offset) {
  BOXCAR_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: strides [{}], shape [{}]",
               fmt::join(stride, ", "), fmt::join(size, ", "));
  return self.view(size, stride, storage_offset.value_or(self.storage_offset()));
}

Tensor view(const Tensor& self, IntSpan size) {
  const DimVector sizes = meta::inferSizes(size, self.numel());
  const std::optional<DimVector> strides = meta::viewStrides(self.sizes(), self.strides(), sizes);
  BOXCAR_CHECK(strides.has_value(),
               "view size is not compatible with input tensor's size and stride (at least one dimension spans across "
               "two contiguous subspaces). Use .reshape(...) instead. The input has sizes [{}] and strides [{}], the "
               "view sizes [{}].",
               fmt::join(self.sizes(), ", "), fmt::join(self.strides(), ", "), fmt::join(sizes, ", "));
  return self.view(sizes, *strides, self.storage_offset());
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const size_t first = dimOf(self, dim0);
  const size_t second = dimOf(self, dim1);
  if (self.dim() == 0) return alias(self);
  return self.viewWith([&](Dims& dims) {
    dims.assign(self.sizes(), self.strides());
    std::swap(dims.sizes()[first], dims.sizes()[second]);
    std::swap(dims.strides()[first], dims.strides()[second]);
    return self.storage_offset();
  });
}

Tensor t(const Tensor& self) {
  BOXCAR_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is {}D", self.dim());
  return self.dim() < 2 ? alias(self) : transpose(self, 0, 1);
}

Tensor permute(const Tensor& self, IntSpan dims) {
  BOXCAR_CHECK(dims.size() == self.sizes().size(),
               "permute: number of dimensions in the tensor input does not match the length of the desired "
               "ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
               self.dim(), dims.size());
  DimVector sizes;
  DimVector strides;
  uint64_t seen = 0;
  for (const int64_t given : dims) {
    const size_t dim = dimOf(self, given);
    const uint64_t bit = meta::dimensionBit(given, self.dim());
    BOXCAR_CHECK((seen & bit) == 0, "permute(): duplicate dims are not allowed: [{}]", fmt::join(dims, ", "));
    seen |= bit;
    sizes.push_back(self.sizes()[dim]);
    strides.push_back(self.strides()[dim]);
  }
  return self.view(sizes, strides, self.storage_offset());
}

// Returns the offset of index [index] of dimension [dim]. If it does not fit 63 bits, which is possible in a tensor
// without elements, returns the offset of the tensor.
int64_t offsetOf(const Tensor& self, size_t dim, int64_t index) {
  int64_t offset = 0;
  if (__builtin_mul_overflow(index, self.strides()[dim], &offset) ||
      __builtin_add_overflow(offset, self.storage_offset(), &offset)) [[unlikely]]
    return self.storage_offset();
  return offset;
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  BOXCAR_CHECK(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const size_t chosen = dimOf(self, dim);
  const int64_t size = self.sizes()[chosen];
  BOXCAR_CHECK_INDEX(index >= -size && index < size,
                     "select(): index {} out of range for tensor of size [{}] at dimension {}", index,
                     fmt::join(self.sizes(), ", "), chosen);
  return self.viewWith([&](Dims& dims) {
    dims.assignWithout(chosen, self.sizes(), self.strides());
    return offsetOf(self, chosen, index < 0 ? index + size : index);
  });
}

// Returns [count] indices of dimension [dim]: every [step]-th from [start] on.
Tensor sliced(const Tensor& self, size_t dim, int64_t start, int64_t count, int64_t step) {
  return self.viewWith([&](Dims& dims) {
    dims.assign(self.sizes(), self.strides());
    dims.sizes()[dim] = count;
    int64_t stride = 0;
    if (!__builtin_mul_overflow(dims.strides()[dim], step, &stride)) {
      dims.strides()[dim] = stride;
    } else {  // the stride of a tensor without elements is not used
      BOXCAR_CHECK(self.numel() == 0, "slice(): a step of {} along dimension {} is longer than 63 bits can count", step,
                   dim);
    }
    return offsetOf(self, dim, start);
  });
}

Tensor slice(const Tensor& self, int64_t dim, OptionalInt start, OptionalInt end, int64_t step) {
  BOXCAR_CHECK(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const size_t chosen = dimOf(self, dim);
  const meta::Slice range = meta::resolveSlice(self.sizes()[chosen], start, end, step);
  return sliced(self, chosen, range.start, range.count, step);
}

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const auto at = static_cast<std::ptrdiff_t>(wrapDimension(dim, self.dim() + 1));
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  const bool last = at == self.dim();
  int64_t stride = 1;
  if (!last && __builtin_mul_overflow(sizes[static_cast<size_t>(at)], strides[static_cast<size_t>(at)], &stride))
    stride = 1;
  sizes.insert(sizes.begin() + at, 1);
  strides.insert(strides.begin() + at, stride);
  return self.view(sizes, strides, self.storage_offset());
}

// Removes the dimensions in [mask] whose size is 1.
Tensor squeezed(const Tensor& self, uint64_t mask) {
  DimVector sizes;
  DimVector strides;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if (self.sizes()[i] == 1 && (mask >> i & 1) != 0) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return self.view(sizes, strides, self.storage_offset());
}

Tensor squeeze(const Tensor& self) { return squeezed(self, meta::dimensionMask({}, self.dim())); }
Tensor squeezeDim(const Tensor& self, int64_t dim) { return squeezed(self, meta::dimensionBit(dim, self.dim())); }
Tensor squeezeDims(const Tensor& self, IntSpan dim) {
  return dim.empty() ? alias(self) : squeezed(self, meta::dimensionMask(dim, self.dim()));
}

Tensor expand(const Tensor& self, IntSpan size, bool /*implicit*/) { return meta::expandTo(self, size); }

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "unbind() cannot be applied to a 0-dim tensor.");
  const int64_t count = self.size(dim);
  meta::PartList parts("unbind", count);
  for (int64_t i = 0; i < count; ++i) parts.add(select(self, dim, i));
  return std::move(parts).take();
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  BOXCAR_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size={}", split_size);
  const size_t chosen = dimOf(self, dim);
  const int64_t size = self.sizes()[chosen];
  BOXCAR_CHECK(split_size > 0 || size == 0,
               "split_size can only be 0 if dimension size is 0, but got dimension size of {}", size);
  const int64_t count = size == 0 ? 1 : size / split_size + (size % split_size != 0 ? 1 : 0);
  meta::PartList parts("split", count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t start = i * split_size;
    parts.add(sliced(self, chosen, start, std::min(split_size, size - start), 1));
  }
  return std::move(parts).take();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("alias", BOXCAR_FN(alias));
  m.impl("detach", BOXCAR_FN(detach));
  m.impl("as_strided", BOXCAR_FN(asStrided));
  m.impl("_reshape_alias", BOXCAR_FN(reshapeAlias));
  m.impl("view", BOXCAR_FN(view));
  m.impl("_unsafe_view", BOXCAR_FN(view));
  m.impl("transpose.int", BOXCAR_FN(transpose));
  m.impl("t", BOXCAR_FN(t));
  m.impl("permute", BOXCAR_FN(permute));
  m.impl("select.int", BOXCAR_FN(select));
  m.impl("slice.Tensor", BOXCAR_FN(slice));
  m.impl("unsqueeze", BOXCAR_FN(unsqueeze));
  m.impl("squeeze", BOXCAR_FN(squeeze));
  m.impl("squeeze.dim", BOXCAR_FN(squeezeDim));
  m.impl("squeeze.dims", BOXCAR_FN(squeezeDims));
  m.impl("expand", BOXCAR_FN(expand));
  m.impl("unbind.int", BOXCAR_FN(unbind));
  m.impl("split.Tensor", BOXCAR_FN(split));
}

}  // namespace boxcar::composite
