#include <boxcar/backends/meta/broadcast.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::native {
namespace {

Tensor& copyInPlace(Tensor& self, const Tensor& src, bool non_blocking) {
  checkDense(self);
  checkDense(src);
  if (src.is_meta() && !self.is_meta()) throw NoElementsError("Cannot copy out of meta tensor; no data!");
  if (self.is_same(src)) return self;
  if (!std::ranges::equal(self.sizes(), src.sizes())) {
    const DimVector both = meta::broadcast(self.sizes(), src.sizes());
    BOXCAR_CHECK(std::ranges::equal(both, self.sizes()),
                 "output with shape [{}] doesn't match the broadcast shape [{}]", fmt::join(self.sizes(), ", "),
                 fmt::join(both, ", "));
  }
  checkNoInternalOverlap(self);
  checkNoPartialOverlap(self, src);
  if (self.is_meta()) return self;
  // If the source shares memory with the target, copy the source first.
  if (self.storage() == src.storage()) {
    copyElements(self, convertTo(src, src.scalar_type()));
  } else {
    copyElements(self, src, non_blocking);
  }
  return self;
}

Scalar localScalarDense(const Tensor& self) {
  checkDense(self);
  if (self.is_meta()) throw NoElementsError("Tensor.item() cannot be called on meta tensors");
  BOXCAR_CHECK(self.numel() == 1, "a Tensor with {} elements cannot be converted to Scalar", self.numel());
  return readNumber(self);
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise, copyOnDevice) {
  m.impl("copy_", BOXCAR_FN(copyInPlace));
  m.impl("_local_scalar_dense", BOXCAR_FN(localScalarDense));
}

}  // namespace boxcar::native
