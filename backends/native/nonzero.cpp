#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/indexing.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/nonzero.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <string_view>

namespace boxcar::native {

constinit DeviceStub<IndicesOfTrue> indicesOfTrue("nonzero");
constinit DeviceStub<SelectMasked> selectMasked("masked_select");
constinit DeviceStub<ScatterMasked> scatterMasked("masked_scatter");

namespace {

void checkHasData(std::string_view name, const Tensor& tensor) {
  checkDense(tensor);
  BOXCAR_CHECK(!tensor.is_meta(), "{}(): the sizes of the result depend on elements, which tensors on Meta have not",
               name);
}

Tensor nonzero(const Tensor& self) {
  checkHasData("nonzero", self);
  return indicesOfTrue(self.device(), toBools(self), self.sizes());
}
Tensor& nonzeroOut(const Tensor& self, Tensor& out) { return writeSameType(out, native::nonzero(self), {&self}); }

Tensor maskedSelect(const Tensor& self, const Tensor& mask) {
  checkHasData("masked_select", self);
  checkSameDevice({&self, &mask});
  meta::checkMask("masked_select", mask);
  const DimVector sizes = meta::broadcast(self.sizes(), mask.sizes());
  return selectMasked(self.device(), toContiguous(meta::expandTo(self, sizes)), toBools(meta::expandTo(mask, sizes)));
}
Tensor& maskedSelectOut(const Tensor& self, const Tensor& mask, Tensor& out) {
  return writeSameType(out, maskedSelect(self, mask), {&self, &mask});
}

// Checks the arguments of masked_scatter; returns the mask expanded to [sizes].
Tensor checkMaskedScatter(std::span<const int64_t> sizes, const Tensor& self, const Tensor& mask,
                          const Tensor& source) {
  checkSameDevice({&self, &mask, &source});
  meta::checkMask("masked_scatter", mask);
  BOXCAR_CHECK(self.scalar_type() == source.scalar_type(),
               "masked_scatter: expected self and source to have same dtypes but got {} and {}",
               dtypeName(self.scalar_type()), dtypeName(source.scalar_type()));
  return meta::expandTo(mask, sizes);
}

void writeMasked(const Tensor& self, const Tensor& mask, const Tensor& source) {
  if (self.is_meta()) return;
  const Tensor flat = toContiguous(self);
  scatterMasked(self.device(), flat, toBools(mask), toContiguous(source));
  if (!flat.is_same(self)) copyElements(self, flat);
}

Tensor& maskedScatterInPlace(Tensor& self, const Tensor& mask, const Tensor& source) {
  checkWrittenInPlace(self, {&mask, &source});
  writeMasked(self, checkMaskedScatter(self.sizes(), self, mask, source), source);
  return self;
}

Tensor maskedScatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  checkSameDevice({&self, &mask, &source});
  const DimVector sizes = meta::broadcast(self.sizes(), mask.sizes());
  const Tensor wide_mask = checkMaskedScatter(sizes, self, mask, source);
  Tensor result = contiguousCopy(meta::expandTo(self, sizes));
  writeMasked(result, wide_mask, source);
  return result;
}

}  // namespace

// Returns [tensor] as contiguous bools.
Tensor toBools(const Tensor& tensor) {
  return toContiguous(tensor.scalar_type() == ScalarType::Bool ? tensor : convertTo(tensor, ScalarType::Bool));
}

BOXCAR_NATIVE_KERNELS_OF_DATA(aten, m, indicesOfTrue, selectMasked) {
  m.impl("nonzero", BOXCAR_FN(nonzero));
  m.impl("nonzero.out", BOXCAR_FN(nonzeroOut));
  m.impl("masked_select", BOXCAR_FN(maskedSelect));
  m.impl("masked_select.out", BOXCAR_FN(maskedSelectOut));
}

BOXCAR_NATIVE_KERNELS(aten, m, scatterMasked) {
  m.impl("masked_scatter", BOXCAR_FN(maskedScatter));
  m.impl("masked_scatter_", BOXCAR_FN(maskedScatterInPlace));
}

}  // namespace boxcar::native
