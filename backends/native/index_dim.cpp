#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/meta/indexing.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/indexed_loop.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/backends/native/write_out.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <string_view>

// Operators on slices along one dimension, chosen by a vector of indices.

namespace boxcar::native {
namespace {

Tensor toPlaces(const Tensor& index) {
  return withDimension(index.scalar_type() == ScalarType::Long ? index : convertTo(index, ScalarType::Long));
}

Tensor indexSelect(const Tensor& self, int64_t dim, const Tensor& index) {
  checkSameDevice({&self, &index});
  const DimVector sizes = meta::indexSelectSizes(self, dim, index);
  Tensor out = Tensor::allocate(sizes, self.scalar_type(), self.device());
  if (out.is_meta()) return out;
  const Tensor places = toPlaces(index);
  IndexedLoop loop = loopOverSlices(withDimension(out), withDimension(self), places, dim);
  loop.name = "index_select";
  if (out.numel() == 0 && places.numel() > 0) checkChosen(self.device(), loop);
  readChosen(self.device(), loop, self.itemsize());
  return out;
}

Tensor& indexSelectOut(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  checkNoInternalOverlap(out);
  return writeSameType(out, indexSelect(self, dim, index), {&self, &index});
}

// Returns the loop that writes the slices of [source] to those of [self]; throws Error if an index is out of range.
IndexedLoop writingLoop(std::string_view name, const Tensor& self, int64_t dim, const Tensor& places,
                        const Tensor& source, bool wraps) {
  IndexedLoop loop = loopOverSlices(withDimension(source), withDimension(self), places, dim);
  loop.name = name;
  loop.wraps = wraps;
  loop.writes_chosen = true;
  if (places.numel() > 0) checkChosen(self.device(), loop);
  return loop;
}

void checkAlpha(const Tensor& self, const Scalar& alpha) {
  const ScalarType type = self.scalar_type();
  BOXCAR_CHECK(!alpha.isBoolean() || type == ScalarType::Bool, "Boolean alpha only supported for Boolean results.");
  BOXCAR_CHECK(isFloatingType(type) || isComplexType(type) || alpha.isIntegral(/*includeBool=*/true),
               "For integral input tensors, argument alpha must not be a floating point number.");
  BOXCAR_CHECK(isComplexType(type) || !alpha.isComplex(),
               "For non-complex input tensors, argument alpha must not be a complex number.");
}

void addSlices(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  if (self.is_meta()) return;
  if (isSmallFloat(self)) {
    return inFloat32(
        self, [&](const Tensor& wide) { addSlices(wide, dim, index, convertTo(source, ScalarType::Float), alpha); });
  }
  const Tensor places = toPlaces(index);
  const IndexedLoop loop = writingLoop("index_add", self, dim, places, source, /*wraps=*/false);
  const ScalarType type = self.scalar_type();
  // Round [alpha] as an element of the tensor; for bools it is true or false.
  alignas(16) std::byte factor[16];
  storeNumber(factor, type, alpha);
  combineChosen(self.device(), loop, type, Combination::kAdd, loadNumber(factor, type));
}

Tensor& indexAddInPlace(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  checkWrittenInPlace(self, {&index, &source});
  dim = meta::checkIndexAdd(self, dim, index, source);
  checkAlpha(self, alpha);
  addSlices(self, dim, index, source, alpha);
  return self;
}

Tensor indexAdd(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  checkSameDevice({&self, &index, &source});
  dim = meta::checkIndexAdd(self, dim, index, source);
  checkAlpha(self, alpha);
  Tensor result = contiguousCopy(self);
  addSlices(result, dim, index, source, alpha);
  return result;
}

Tensor& indexAddOut(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha,
                    Tensor& out) {
  return writeSameType(out, indexAdd(self, dim, index, source, alpha), {&index, &source});
}

void copySlices(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (self.is_meta()) return;
  const Tensor places = toPlaces(index);
  writeChosen(self.device(), writingLoop("index_copy", self, dim, places, source, /*wraps=*/false), self.itemsize());
}

Tensor& indexCopyInPlace(Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  checkWrittenInPlace(self, {&index, &source});
  copySlices(self, meta::checkIndexCopy(self, dim, index, source), index, source);
  return self;
}

Tensor indexCopy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  checkSameDevice({&self, &index, &source});
  dim = meta::checkIndexCopy(self, dim, index, source);
  Tensor result = contiguousCopy(self);
  copySlices(result, dim, index, source);
  return result;
}

Tensor& indexCopyOut(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Tensor& out) {
  return writeSameType(out, indexCopy(self, dim, index, source), {&index, &source});
}

Tensor& indexFillInPlaceNumber(Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  checkWrittenInPlace(self, {&index});
  dim = meta::checkIndexFill(self, dim, index);
  BOXCAR_CHECK(!value.isComplex() || isComplexType(self.scalar_type()),
               "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  if (!self.is_meta()) {
    const Tensor places = toPlaces(index);
    DimVector sizes = toDimVector(withDimension(self).sizes());
    sizes[static_cast<size_t>(dim)] = places.numel();
    const Tensor source = meta::expandTo(toDevice(numberTensor(value, self.scalar_type()), self.device()), sizes);
    writeChosen(self.device(), writingLoop("index_fill_", self, dim, places, source, /*wraps=*/true), self.itemsize());
  }
  return self;
}

Scalar fillNumber(const Tensor& self, const Tensor& value) {
  checkSameDevice({&self, &value});
  BOXCAR_CHECK(value.dim() == 0,
               "index_fill_(): only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
               value.dim());
  return value.is_meta() ? Scalar(0) : readNumber(value);
}

Tensor& indexFillInPlaceTensor(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  return indexFillInPlaceNumber(self, dim, index, fillNumber(self, value));
}

Tensor indexFillNumber(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  checkDense(self);
  Tensor result = convertTo(self, self.scalar_type());
  return indexFillInPlaceNumber(result, dim, index, value);
}

Tensor indexFillTensor(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  return indexFillNumber(self, dim, index, fillNumber(self, value));
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, readChosen, writeChosen, combineChosen) {
  m.impl("index_select", BOXCAR_FN(indexSelect));
  m.impl("index_select.out", BOXCAR_FN(indexSelectOut));
  m.impl("index_add", BOXCAR_FN(indexAdd));
  m.impl("index_add_", BOXCAR_FN(indexAddInPlace));
  m.impl("index_add.out", BOXCAR_FN(indexAddOut));
  m.impl("index_copy", BOXCAR_FN(indexCopy));
  m.impl("index_copy_", BOXCAR_FN(indexCopyInPlace));
  m.impl("index_copy.out", BOXCAR_FN(indexCopyOut));
  m.impl("index_fill.int_Scalar", BOXCAR_FN(indexFillNumber));
  m.impl("index_fill.int_Tensor", BOXCAR_FN(indexFillTensor));
  m.impl("index_fill_.int_Scalar", BOXCAR_FN(indexFillInPlaceNumber));
  m.impl("index_fill_.int_Tensor", BOXCAR_FN(indexFillInPlaceTensor));
}

}  // namespace boxcar::native
