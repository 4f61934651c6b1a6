#include <boxcar/backends/meta/dims.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/ranges.h>

// Views of complex numbers as pairs of real numbers, and back.

namespace boxcar::composite {
namespace {

// Returns [self]'s storage as elements of [dtype].
Tensor viewElementsAs(const Tensor& self, ScalarType dtype, const DimVector& sizes, const DimVector& strides,
                      int64_t offset) {
  return Tensor(makeIntrusive<TensorImpl>(*self.unsafeGetTensorImpl(), dtype, sizes, strides, offset));
}

Tensor viewAsReal(const Tensor& self) {
  BOXCAR_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors, here {}", self.scalar_type());
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

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeExplicitAutograd, m) {
  m.impl("view_as_real", BOXCAR_FN(viewAsReal));
  m.impl("view_as_complex", BOXCAR_FN(viewAsComplex));
}

}  // namespace boxcar::composite
