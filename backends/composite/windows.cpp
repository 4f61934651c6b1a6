#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <algorithm>

// Views that rearrange or reinterpret elements: windows, diagonals, and elements read as another dtype.

namespace boxcar::composite {
namespace {

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const auto dim = static_cast<size_t>(wrapDimension(dimension, self.dim()));
  const bool is_number = self.dim() == 0;
  const int64_t length = is_number ? 1 : self.sizes()[dim];
  const int64_t stride = is_number ? 1 : self.strides()[dim];
  BOXCAR_CHECK(size >= 0, "unfold(): size must not be negative, but it is {}", size);
  BOXCAR_CHECK(size <= length, "maximum size for tensor at dimension {} is {} but size is {}", dim, length, size);
  BOXCAR_CHECK(step > 0, "step is {} but must be > 0", step);
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  if (!is_number) {
    sizes[dim] = (length - size) / step + 1;
    // A single window needs no stride, so any step is allowed.
    if (__builtin_mul_overflow(stride, step, &strides[dim])) strides[dim] = stride;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return self.view(sizes, strides, self.storage_offset());
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const auto first = static_cast<size_t>(wrapDimension(dim1, self.dim()));
  const auto second = static_cast<size_t>(wrapDimension(dim2, self.dim()));
  BOXCAR_CHECK(first != second, "diagonal dimensions cannot be identical {}, {}", dim1, dim2);
  const int64_t rows = self.sizes()[first];
  const int64_t columns = self.sizes()[second];
  const int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * self.strides()[second] : -offset * self.strides()[first];
  DimVector sizes;
  DimVector strides;
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    if (i == first || i == second) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  sizes.push_back(length);
  // Only a diagonal of at most one element has a stride beyond 63 bits; any other stride works for it.
  int64_t stride = 0;
  if (__builtin_add_overflow(self.strides()[first], self.strides()[second], &stride)) stride = 1;
  strides.push_back(stride);
  return self.view(sizes, strides, start);
}

Tensor withType(const Tensor& self, ScalarType dtype, const DimVector& sizes, const DimVector& strides,
                int64_t offset) {
  auto result = makeIntrusive<TensorImpl>(self.storage(), dtype, sizes, strides, offset);
  result->set_key_set(self.key_set() - DispatchKeySet(DispatchKey::AutogradFunctionality));
  return Tensor(std::move(result));
}

// The last dimension must be contiguous; its length changes with the element size.
Tensor viewDtype(const Tensor& self, ScalarType dtype) {
  const auto from = static_cast<int64_t>(self.itemsize());
  const auto to = static_cast<int64_t>(elementSize(dtype));
  BOXCAR_CHECK(to > 0 && dtype != ScalarType::ComplexHalf, "a tensor cannot have the dtype {}", dtypeName(dtype));
  BOXCAR_CHECK(dtype == self.scalar_type() || !hasMathBits(self),
               "view: the memory of a tensor that is conjugated or negated lazily does not hold its elements, so "
               "they cannot be viewed as {}; view x.resolve_conj().resolve_neg()",
               dtypeName(dtype));
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  int64_t offset = self.storage_offset();
  if (from == to) return withType(self, dtype, sizes, strides, offset);

  const auto check = [&](bool fits, std::string_view what) {
    BOXCAR_CHECK(fits,
                 "{} to view {} as {} (different element sizes), but the sizes are [{}], the strides [{}] and "
                 "the storage offset is {}",
                 what, dtypeName(self.scalar_type()), dtypeName(dtype), fmt::join(self.sizes(), ", "),
                 fmt::join(self.strides(), ", "), offset);
  };
  check(self.dim() > 0, "self.dim() cannot be 0");
  check(strides.back() == 1, "self.stride(-1) must be 1");
  if (from > to) {
    const int64_t ratio = from / to;
    bool overflow = false;
    for (size_t i = 0; i + 1 < strides.size(); ++i) overflow |= __builtin_mul_overflow(strides[i], ratio, &strides[i]);
    overflow |= __builtin_mul_overflow(offset, ratio, &offset);
    overflow |= __builtin_mul_overflow(sizes.back(), ratio, &sizes.back());
    check(!overflow, "sizes and strides must not be too large");
    return withType(self, dtype, sizes, strides, offset);
  }
  const int64_t ratio = to / from;
  check(sizes.back() % ratio == 0, fmt::format("self.size(-1) must be divisible by {}", ratio));
  check(offset % ratio == 0, fmt::format("self.storage_offset() must be divisible by {}", ratio));
  for (size_t i = 0; i + 1 < strides.size(); ++i) {
    check(strides[i] % ratio == 0, fmt::format("self.stride({}) must be divisible by {}", i, ratio));
    strides[i] /= ratio;
  }
  sizes.back() /= ratio;
  return withType(self, dtype, sizes, strides, offset / ratio);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("unfold", BOXCAR_FN(unfold));
  m.impl("diagonal", BOXCAR_FN(diagonal));
  m.impl("view.dtype", BOXCAR_FN(viewDtype));
}

}  // namespace boxcar::composite
