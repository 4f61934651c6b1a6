#include <boxcar/backends/meta/defined.h>
#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/resolved_tensor.h>
#include <boxcar/ops.h>
#include <fmt/ranges.h>

// Views of complex numbers as pairs of real numbers, and back; views of conjugates and negatives.

namespace boxcar::composite {
namespace {

// Returns [self]'s storage as elements of [dtype].
Tensor viewElementsAs(const Tensor& self, ScalarType dtype, const DimVector& sizes, const DimVector& strides,
                      int64_t offset) {
  return Tensor(makeIntrusive<TensorImpl>(*self.unsafeGetTensorImpl(), dtype, sizes, strides, offset));
}

Tensor viewAsReal(const Tensor& self) {
  BOXCAR_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors, here {}", self.scalar_type());
  BOXCAR_CHECK(!self.key_set().has(DispatchKey::Conjugate),
               "view_as_real doesn't work on unresolved conjugated tensors: the memory has other imaginary parts. Use "
               "x.resolve_conj(), which does not share memory with x");
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  // Only strides of a tensor without elements can be too large to double.
  for (int64_t& stride : strides) {
    BOXCAR_CHECK(!__builtin_mul_overflow(stride, 2, &stride),
                 "view_as_real: the strides [{}] are too large to be counted in real numbers",
                 fmt::join(self.strides(), ", "));
  }
  sizes.push_back(2);
  strides.push_back(1);
  return viewElementsAs(self, toRealValueType(self.scalar_type()), sizes, strides, 2 * self.storage_offset());
}

Tensor viewAsComplex(const Tensor& self) {
  BOXCAR_CHECK(self.scalar_type() == ScalarType::Float || self.scalar_type() == ScalarType::Double,
               "view_as_complex is only supported for float and double tensors, but got a tensor of scalar type: {}",
               self.scalar_type());
  BOXCAR_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  BOXCAR_CHECK(self.sizes().back() == 2, "Tensor must have a last dimension of size 2, here it is {}",
               self.sizes().back());
  BOXCAR_CHECK(self.strides().back() == 1, "Tensor must have a last dimension with stride 1, here it is {}",
               self.strides().back());
  DimVector sizes = toDimVector(self.sizes());
  DimVector strides = toDimVector(self.strides());
  sizes.pop_back();
  strides.pop_back();
  for (size_t i = 0; i < strides.size(); ++i) {
    BOXCAR_CHECK(strides[i] % 2 == 0,
                 "Tensor must have a stride divisible by 2 for all but last dimension, here "
                 "dimension {} has {}",
                 i, strides[i]);
    strides[i] /= 2;
  }
  BOXCAR_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2, here it is {}",
               self.storage_offset());
  return viewElementsAs(self, toComplexType(self.scalar_type()), sizes, strides, self.storage_offset() / 2);
}

bool isConj(const Tensor& self) {
  meta::checkDefined(self);
  return self.key_set().has(DispatchKey::Conjugate);
}
bool isNeg(const Tensor& self) {
  meta::checkDefined(self);
  return self.key_set().has(DispatchKey::Negative);
}

Tensor conjView(const Tensor& self) {
  meta::checkDefined(self);
  if (!self.is_complex()) return boxcar::alias(self);
  return withOtherBit(self, DispatchKey::Conjugate);
}
Tensor negView(const Tensor& self) {
  meta::checkDefined(self);
  BOXCAR_CHECK(self.scalar_type() != ScalarType::Bool,
               "_neg_view: a bool tensor has no negative elements; logical_not() has the opposite ones");
  return withOtherBit(self, DispatchKey::Negative);
}

Tensor conj(const Tensor& self) {
  meta::checkDefined(self);
  return self.is_complex() ? boxcar::_conj(self) : self;
}
Tensor resolveConj(const Tensor& self) { return isConj(self) ? boxcar::clone(self) : self; }
Tensor resolveNeg(const Tensor& self) { return isNeg(self) ? boxcar::clone(self) : self; }

// One of the parts, the real ones if [part] is 0. The imaginary ones are the negatives of a conjugate's.
Tensor partOf(const Tensor& self, int64_t part) {
  return boxcar::select(boxcar::view_as_real(isConj(self) ? boxcar::_conj(self) : self), -1, part);
}
Tensor real(const Tensor& self) {
  meta::checkDefined(self);
  return self.is_complex() ? partOf(self, 0) : self;
}
Tensor imag(const Tensor& self) {
  BOXCAR_CHECK(self.is_complex(), "imag takes complex tensors, not one of dtype {}; the imaginary part of that is 0",
               self.scalar_type());
  const Tensor part = partOf(self, 1);
  return isConj(self) ? boxcar::_neg_view(part) : part;
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  m.impl("is_conj", BOXCAR_FN(isConj));
  m.impl("is_neg", BOXCAR_FN(isNeg));
  m.impl("conj", BOXCAR_FN(conj));
  m.impl("real", BOXCAR_FN(real));
  m.impl("imag", BOXCAR_FN(imag));
  m.impl("resolve_conj", BOXCAR_FN(resolveConj));
  m.impl("resolve_neg", BOXCAR_FN(resolveNeg));
}

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("_conj", BOXCAR_FN(conjView));
  m.impl("_neg_view", BOXCAR_FN(negView));
  m.impl("view_as_real", BOXCAR_FN(viewAsReal));
  m.impl("view_as_complex", BOXCAR_FN(viewAsComplex));
}

}  // namespace boxcar::composite
