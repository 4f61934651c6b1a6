#include <boxcar/backends/cpu/index.h>
#include <boxcar/backends/cpu/indexed_loop.h>
#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/dense/copy.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/dense/write_out.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/backends/shape/indexing.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

// Operators whose results are as large as there are elements that are not zero.

namespace boxcar::cpu {
namespace {

std::span<const bool> boolsOf(const Tensor& contiguous) {
  return {static_cast<const bool*>(contiguous.data_ptr()), static_cast<size_t>(contiguous.numel())};
}

// [tensor] as bools in the order of their indices.
Tensor toBools(const Tensor& tensor) {
  return toContiguous(tensor.scalar_type() == ScalarType::Bool ? tensor : convertTo(tensor, ScalarType::Bool));
}

void checkHasData(std::string_view name, const Tensor& tensor) {
  checkCpuOrMeta(tensor);
  BOXCAR_CHECK(!tensor.is_meta(), "{}(): the sizes of the result depend on elements, which tensors on Meta have not",
               name);
}

Tensor nonzero(const Tensor& self) {
  checkHasData("nonzero", self);
  return nonzeroIndices(self);
}
Tensor& nonzeroOut(const Tensor& self, Tensor& out) { return writeSameType(out, nonzero(self), {&self}); }

// Calls body(i) for each of [mask] that is true, in order.
template <class Body>
void forEachTrue(std::span<const bool> mask, Body&& body) {
  size_t i = 0;
  // Eight at a time where none is.
  for (; i + 8 <= mask.size(); i += 8) {
    uint64_t eight;
    std::memcpy(&eight, mask.data() + i, sizeof(eight));
    if (eight == 0) continue;
    for (size_t k = i; k < i + 8; ++k) {
      if (mask[k]) body(k);
    }
  }
  for (; i < mask.size(); ++i) {
    if (mask[i]) body(i);
  }
}

Tensor maskedSelect(const Tensor& self, const Tensor& mask) {
  checkHasData("masked_select", self);
  checkSameDevice({&self, &mask});
  shape::checkMask("masked_select", mask);
  const DimVector sizes = shape::broadcast(self.sizes(), mask.sizes());
  const Tensor chosen = toBools(shape::expandTo(mask, sizes));
  const Tensor elements = toContiguous(shape::expandTo(self, sizes));
  const std::span<const bool> bools = boolsOf(chosen);
  const int64_t count[] = {std::ranges::count(bools, true)};
  Tensor out = Tensor::allocate(count, self.scalar_type());
  visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    const auto* from = static_cast<const Word*>(elements.data_ptr());
    auto* to = static_cast<Word*>(out.data_ptr());
    forEachTrue(bools, [&](size_t i) { *to++ = from[i]; });
  });
  return out;
}
Tensor& maskedSelectOut(const Tensor& self, const Tensor& mask, Tensor& out) {
  return writeSameType(out, maskedSelect(self, mask), {&self, &mask});
}

// What masked_scatter asks for; the mask expanded to [sizes].
Tensor checkMaskedScatter(std::span<const int64_t> sizes, const Tensor& self, const Tensor& mask,
                          const Tensor& source) {
  checkSameDevice({&self, &mask, &source});
  shape::checkMask("masked_scatter", mask);
  BOXCAR_CHECK(self.scalar_type() == source.scalar_type(),
               "masked_scatter: expected self and source to have same dtypes but got {} and {}",
               dtypeName(self.scalar_type()), dtypeName(source.scalar_type()));
  return shape::expandTo(mask, sizes);
}

void scatterMasked(const Tensor& self, const Tensor& mask, const Tensor& source) {
  if (self.is_meta()) return;
  const Tensor chosen = toBools(mask);
  const Tensor elements = toContiguous(source);
  const std::span<const bool> bools = boolsOf(chosen);
  const int64_t count = std::ranges::count(bools, true);
  BOXCAR_CHECK(source.numel() >= count,
               "masked_scatter: expected source to have as many elements as the mask has ones, {}, but it has {}",
               count, source.numel());
  const Tensor flat = toContiguous(self);
  visitWord(self.itemsize(), [&]<class Word>(std::type_identity<Word>) {
    const auto* from = static_cast<const Word*>(elements.data_ptr());
    auto* to = static_cast<Word*>(flat.data_ptr());
    forEachTrue(bools, [&](size_t i) { to[i] = *from++; });
  });
  if (!flat.is_same(self)) copyElements(self, flat);
}

Tensor& maskedScatterInPlace(Tensor& self, const Tensor& mask, const Tensor& source) {
  checkWrittenInPlace(self, {&mask, &source});
  scatterMasked(self, checkMaskedScatter(self.sizes(), self, mask, source), source);
  self.storage()->bumpVersion();
  return self;
}

Tensor maskedScatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  checkSameDevice({&self, &mask, &source});
  const DimVector sizes = shape::broadcast(self.sizes(), mask.sizes());
  const Tensor wide_mask = checkMaskedScatter(sizes, self, mask, source);
  Tensor result = contiguousCopy(shape::expandTo(self, sizes));
  scatterMasked(result, wide_mask, source);
  return result;
}

}  // namespace

Tensor nonzeroIndices(const Tensor& self) {
  const Tensor mask = toBools(self);
  const std::span<const bool> elements = boolsOf(mask);
  const auto rank = static_cast<size_t>(self.dim());
  const int64_t count = std::ranges::count(elements, true);
  const int64_t sizes[] = {count, self.dim()};
  // One column after the other.
  const int64_t strides[] = {1, std::max<int64_t>(count, 1)};
  Tensor result = shape::allocateStrided(sizes, strides, ScalarType::Long, self.device());
  auto* out = static_cast<int64_t*>(result.data_ptr());
  if (rank == 1) {
    forEachTrue(elements, [&](size_t i) { *out++ = static_cast<int64_t>(i); });
    return result;
  }
  forEachTrue(elements, [&](size_t i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t dim = rank; dim-- > 0;) {
      const int64_t size = self.sizes()[dim];
      out[static_cast<int64_t>(dim) * count] = rest % size;
      rest /= size;
    }
    ++out;
  });
  return result;
}

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("nonzero", BOXCAR_FN(nonzero));
  m.impl("nonzero.out", BOXCAR_FN(nonzeroOut));
  m.impl("masked_select", BOXCAR_FN(maskedSelect));
  m.impl("masked_select.out", BOXCAR_FN(maskedSelectOut));
  m.impl("masked_scatter", BOXCAR_FN(maskedScatter));
  m.impl("masked_scatter_", BOXCAR_FN(maskedScatterInPlace));
}

BOXCAR_LIBRARY_IMPL(aten, Meta, m) {
  m.impl("masked_scatter", BOXCAR_FN(maskedScatter));
  m.impl("masked_scatter_", BOXCAR_FN(maskedScatterInPlace));
}

}  // namespace boxcar::cpu
