#include <boxcar/backends/meta/part_list.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <span>
#include <vector>

// Parts of a dimension: pieces of given sizes, a range, or one index.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

std::vector<Tensor> splitWithSizes(const Tensor& self, IntSpan split_sizes, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  const int64_t size = self.size(dim);
  int64_t sum = 0;
  bool overflow = false;
  for (const int64_t length : split_sizes) {
    BOXCAR_CHECK(length >= 0,
                 "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[{}]",
                 fmt::join(split_sizes, ", "));
    overflow |= __builtin_add_overflow(sum, length, &sum);
  }
  BOXCAR_CHECK(!overflow && sum == size,
               "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but "
               "got split_sizes=[{}]",
               size, dim, fmt::join(split_sizes, ", "));
  meta::PartList parts("split_with_sizes", static_cast<int64_t>(split_sizes.size()));
  int64_t start = 0;
  for (const int64_t length : split_sizes) {
    parts.add(boxcar::slice(self, dim, start, start + length, 1));
    start += length;
  }
  return std::move(parts).take();
}

std::vector<Tensor> splitSizes(const Tensor& self, IntSpan split_size, int64_t dim) {
  return boxcar::split_with_sizes(self, split_size, dim);
}

void checkTensorSplit(const Tensor& self) {
  BOXCAR_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
}

// If the size is not divisible, the first parts are one longer.
std::vector<Tensor> tensorSplitSections(const Tensor& self, int64_t sections, int64_t dim) {
  checkTensorSplit(self);
  const int64_t size = self.size(dim);
  BOXCAR_CHECK(sections > 0, "number of sections must be larger than 0, got {}", sections);
  meta::PartList parts("tensor_split", sections);
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = size / sections + (i < size % sections ? 1 : 0);
    parts.add(boxcar::slice(self, dim, start, start + length, 1));
    start += length;
  }
  return std::move(parts).take();
}

std::vector<Tensor> tensorSplitIndices(const Tensor& self, IntSpan indices, int64_t dim) {
  checkTensorSplit(self);
  meta::PartList parts("tensor_split", static_cast<int64_t>(indices.size()) + 1);
  int64_t start = 0;
  for (const int64_t end : indices) {
    parts.add(boxcar::slice(self, dim, start, end, 1));
    start = end;
  }
  parts.add(boxcar::slice(self, dim, start, self.size(dim), 1));
  return std::move(parts).take();
}

std::vector<Tensor> tensorSplitTensor(const Tensor& self, const Tensor& given, int64_t dim) {
  checkTensorSplit(self);
  BOXCAR_CHECK(given.is_cpu(), "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {}",
               given.device());
  BOXCAR_CHECK(given.scalar_type() == ScalarType::Long,
               "tensor_split expected tensor_indices_or_sections to have dtype of long, but got {}",
               given.scalar_type());
  BOXCAR_CHECK(given.dim() <= 1,
               "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
               "but got a tensor with {} dims",
               given.dim());
  if (given.dim() == 0) return tensorSplitSections(self, boxcar::item(given).toLong(), dim);
  const Tensor indices = boxcar::contiguous(resolved(given));
  return tensorSplitIndices(self, IntSpan(indices.data_ptr<int64_t>(), static_cast<size_t>(indices.numel())), dim);
}

Tensor narrowTensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  BOXCAR_CHECK(start.dim() == 0 && isIntegralType(start.scalar_type(), /*includeBool=*/false),
               "start must be an 0-dim integral Tensor, but it has {} dimensions and dtype {}", start.dim(),
               dtypeName(start.scalar_type()));
  return boxcar::narrow(self, dim, boxcar::item(start).toLong(), length);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) { m.impl("split_with_sizes", BOXCAR_FN(splitWithSizes)); }

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("split.sizes", BOXCAR_FN(splitSizes));
  m.impl("tensor_split.sections", BOXCAR_FN(tensorSplitSections));
  m.impl("tensor_split.indices", BOXCAR_FN(tensorSplitIndices));
  m.impl("tensor_split.tensor_indices_or_sections", BOXCAR_FN(tensorSplitTensor));
  m.impl("narrow.Tensor", BOXCAR_FN(narrowTensor));
}

}  // namespace boxcar::composite
