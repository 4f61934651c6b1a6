#include <boxcar/backends/composite/dtype.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/backends/meta/part_list.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

// Tensors that are put together of parts of others, and split into parts.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;
using TensorSpan = std::span<const Tensor>;

Tensor blockDiag(TensorSpan tensors) {
  if (tensors.empty()) return boxcar::empty({1, 0});
  std::vector<Tensor> blocks;
  ScalarType dtype = tensors[0].scalar_type();
  int64_t columns = 0;
  for (const Tensor& given : tensors) {
    BOXCAR_CHECK(given.dim() <= 2,
                 "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {} has {} dimensions",
                 blocks.size(), given.dim());
    BOXCAR_CHECK(
        given.device() == tensors[0].device(),
        "torch.block_diag: input tensors must all be on the same device. Input 0 is on device {} and input {} is on "
        "device {}.",
        tensors[0].device(), blocks.size(), given.device());
    blocks.push_back(given.dim() == 2 ? given : boxcar::reshape(given, {1, -1}));
    dtype = promoteTypes(dtype, given.scalar_type());
    columns += blocks.back().size(1);
  }
  int64_t before = 0;
  for (Tensor& block : blocks) {
    const int64_t width = block.size(1);
    block = boxcar::constant_pad_nd(converted(block, dtype), {before, columns - before - width});
    before += width;
  }
  return boxcar::cat(blocks, 0);
}

Tensor cartesianProd(TensorSpan tensors) {
  BOXCAR_CHECK(!tensors.empty(), "cartesian_prod: expected at least one vector");
  for (const Tensor& given : tensors) {
    BOXCAR_CHECK(given.dim() == 1, "cartesian_prod: Expect a 1D vector, but got shape [{}]",
                 fmt::join(given.sizes(), ", "));
  }
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> columns = boxcar::meshgrid(tensors, "ij");
  for (Tensor& column : columns) column = boxcar::flatten(column);
  return boxcar::stack(columns, 1);
}

// Indices in rising order choose each combination once.
Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  BOXCAR_CHECK(self.dim() == 1, "combinations: Expect a 1D vector, but got shape [{}]", fmt::join(self.sizes(), ", "));
  BOXCAR_CHECK(r >= 0, "combinations: Expect a non-negative number, but got {}", r);
  if (r == 0) return boxcar::empty({0}, self.scalar_type(), std::nullopt, self.device());
  if (r == 1) return boxcar::clone(boxcar::reshape(self, {-1, 1}));
  BOXCAR_CHECK(r <= kMaxDims, "combinations: {} elements at a time are more than {}", r, kMaxDims);
  const Tensor place = boxcar::arange(self.numel(), ScalarType::Long, std::nullopt, self.device());
  const std::vector<Tensor> grids = boxcar::meshgrid(std::vector<Tensor>(static_cast<size_t>(r), place), "ij");
  Tensor rising = boxcar::ones_like(grids[0], ScalarType::Bool);
  for (size_t i = 1; i < grids.size(); ++i) {
    rising = boxcar::logical_and(
        rising, with_replacement ? boxcar::le(grids[i - 1], grids[i]) : boxcar::lt(grids[i - 1], grids[i]));
  }
  std::vector<Tensor> columns;
  for (const Tensor& grid : grids) {
    columns.push_back(boxcar::index_select(self, 0, boxcar::masked_select(grid, rising)));
  }
  return boxcar::stack(columns, 1);
}

// The dimension that hsplit, vsplit and dsplit split.
int64_t splitDim(const Tensor& self, int64_t dims, int64_t dim, const char* name) {
  BOXCAR_CHECK(self.dim() >= dims,
               "torch.{} requires a tensor with at least {} dimension{}, but got a tensor with {} dimensions", name,
               dims, dims == 1 ? "" : "s", self.dim());
  return dim;
}
std::vector<Tensor> equalParts(const Tensor& self, int64_t sections, int64_t dim, const char* name) {
  BOXCAR_CHECK(
      sections > 0 && self.size(dim) % sections == 0,
      "torch.{} attempted to split along dimension {}, but the size of the dimension {} is not divisible by the "
      "split_size {}!",
      name, dim, self.size(dim), sections);
  return boxcar::tensor_split(self, sections, dim);
}
int64_t columnsOf(const Tensor& self) { return splitDim(self, 1, self.dim() == 1 ? 0 : 1, "hsplit"); }

std::vector<Tensor> hsplit(const Tensor& self, int64_t sections) {
  return equalParts(self, sections, columnsOf(self), "hsplit");
}
std::vector<Tensor> hsplitAt(const Tensor& self, IntSpan indices) {
  return boxcar::tensor_split(self, indices, columnsOf(self));
}
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections) {
  return equalParts(self, sections, splitDim(self, 2, 0, "vsplit"), "vsplit");
}
std::vector<Tensor> vsplitAt(const Tensor& self, IntSpan indices) {
  return boxcar::tensor_split(self, indices, splitDim(self, 2, 0, "vsplit"));
}
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections) {
  return equalParts(self, sections, splitDim(self, 3, 2, "dsplit"), "dsplit");
}
std::vector<Tensor> dsplitAt(const Tensor& self, IntSpan indices) {
  return boxcar::tensor_split(self, indices, splitDim(self, 3, 2, "dsplit"));
}

std::vector<Tensor> unsafeSplit(const Tensor& self, int64_t split_size, int64_t dim) {
  return boxcar::split(self, split_size, dim);
}
std::vector<Tensor> unsafeSplitWithSizes(const Tensor& self, IntSpan split_sizes, int64_t dim) {
  return boxcar::split_with_sizes(self, split_sizes, dim);
}
std::vector<Tensor> unsafeChunk(const Tensor& self, int64_t chunks, int64_t dim) {
  return boxcar::chunk(self, chunks, dim);
}

Tensor sumToSize(const Tensor& self, IntSpan size) {
  if (size.empty()) return boxcar::sum(self);
  const auto extra = self.dim() - static_cast<int64_t>(size.size());
  bool fits = extra >= 0;
  DimVector dims;
  for (int64_t i = 0; i < self.dim() && fits; ++i) {
    const int64_t wanted = i < extra ? 1 : size[static_cast<size_t>(i - extra)];
    fits = wanted == self.size(i) || wanted == 1;
    if (i < extra || wanted != self.size(i)) dims.push_back(i);
  }
  BOXCAR_CHECK(fits, "size {{[{}]}} is not expandable to size {{[{}]}}.", fmt::join(size, ", "),
               fmt::join(self.sizes(), ", "));
  return dims.empty() ? self : boxcar::reshape(boxcar::sum(self, IntSpan(dims), true), size);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("block_diag", BOXCAR_FN(blockDiag));
  m.impl("cartesian_prod", BOXCAR_FN(cartesianProd));
  m.impl("combinations", BOXCAR_FN(combinations));
  m.impl("hsplit.int", BOXCAR_FN(hsplit));
  m.impl("hsplit.array", BOXCAR_FN(hsplitAt));
  m.impl("vsplit.int", BOXCAR_FN(vsplit));
  m.impl("vsplit.array", BOXCAR_FN(vsplitAt));
  m.impl("dsplit.int", BOXCAR_FN(dsplit));
  m.impl("dsplit.array", BOXCAR_FN(dsplitAt));
  m.impl("unsafe_chunk", BOXCAR_FN(unsafeChunk));
  m.impl("sum_to_size", BOXCAR_FN(sumToSize));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("unsafe_split.Tensor", BOXCAR_FN(unsafeSplit));
  m.impl("unsafe_split_with_sizes", BOXCAR_FN(unsafeSplitWithSizes));
}

}  // namespace boxcar::composite
