#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/part_list.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

// Shape operators built from views.

namespace boxcar::composite {
namespace {

using IntSpan = std::span<const int64_t>;

Tensor reshape(const Tensor& self, IntSpan shape) {
  if (self.is_mkldnn()) return boxcar::_mkldnn_reshape(self, shape);
  const DimVector sizes = meta::inferSizes(shape, self.numel());
  if (meta::viewStrides(self.sizes(), self.strides(), sizes).has_value()) return boxcar::view(self, sizes);
  return boxcar::_unsafe_view(boxcar::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor viewAs(const Tensor& self, const Tensor& other) { return boxcar::view(self, other.sizes()); }

Tensor expandAs(const Tensor& self, const Tensor& other) { return boxcar::expand(self, other.sizes()); }

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t first = wrapDimension(start_dim, self.dim());
  const int64_t last = wrapDimension(end_dim, self.dim());
  BOXCAR_CHECK(first <= last, "flatten() has invalid args: start_dim ({}) cannot come after end_dim ({})", start_dim,
               end_dim);
  if (self.dim() == 0) return boxcar::unsqueeze(self, 0);
  if (first == last) return self;
  DimVector sizes;
  int64_t joined = 1;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const int64_t size = self.sizes()[static_cast<size_t>(i)];
    if (i < first || i > last) {
      sizes.push_back(size);
      continue;
    }
    joined *= size;
    if (i == last) sizes.push_back(joined);
  }
  return boxcar::reshape(self, sizes);
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  BOXCAR_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  BOXCAR_CHECK(length >= 0, "narrow(): length must be non-negative, but it is {}", length);
  const int64_t size = self.size(dim);
  BOXCAR_CHECK(start >= -size && start <= size, "start out of range (expected to be in range of [{}, {}], but got {})",
               -size, size, start);
  const int64_t first = start < 0 ? start + size : start;
  BOXCAR_CHECK(first <= size - length, "start ({}) + length ({}) exceeds dimension size ({}).", first, length, size);
  return boxcar::slice(self, dim, first, first + length, 1);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  BOXCAR_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  BOXCAR_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks);
  const int64_t size = self.size(dim);
  const int64_t each = size / chunks + (size % chunks != 0 ? 1 : 0);
  if (each == 0) meta::checkPartCount("chunk", chunks);
  if (each == 0) return std::vector<Tensor>(static_cast<size_t>(chunks), boxcar::slice(self, dim, 0, 0, 1));
  return boxcar::split(self, each, dim);
}

int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }

int64_t symStride(const Tensor& self, int64_t dim) { return self.stride(dim); }

int64_t symNumel(const Tensor& self) {
  meta::checkDefined(self);
  return self.numel();
}

int64_t symStorageOffset(const Tensor& self) {
  meta::checkDefined(self);
  return self.storage_offset();
}

bool isFloatingPoint(const Tensor& self) {
  meta::checkDefined(self);
  return self.is_floating_point();
}

bool isSameSize(const Tensor& self, const Tensor& other) {
  meta::checkDefined(self);
  meta::checkDefined(other);
  return std::ranges::equal(self.sizes(), other.sizes());
}

bool equal(const Tensor& self, const Tensor& other) {
  if (!isSameSize(self, other)) return false;
  return boxcar::item(boxcar::all(boxcar::eq(self, other))).toBool();
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("equal", BOXCAR_FN(equal));
  m.impl("is_same_size", BOXCAR_FN(isSameSize));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("reshape", BOXCAR_FN(reshape));
  m.impl("view_as", BOXCAR_FN(viewAs));
  m.impl("expand_as", BOXCAR_FN(expandAs));
  m.impl("flatten.using_ints", BOXCAR_FN(flatten));
  m.impl("narrow", BOXCAR_FN(narrow));
  m.impl("chunk", BOXCAR_FN(chunk));
  m.impl("size.int", BOXCAR_FN(size));
  m.impl("sym_size.int", BOXCAR_FN(size));
  m.impl("sym_stride.int", BOXCAR_FN(symStride));
  m.impl("sym_numel", BOXCAR_FN(symNumel));
  m.impl("sym_storage_offset", BOXCAR_FN(symStorageOffset));
  m.impl("is_floating_point", BOXCAR_FN(isFloatingPoint));
}

}  // namespace boxcar::composite
