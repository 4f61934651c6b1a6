#include <boxcar/backends/cpu/copy.h>
#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/backends/shape/broadcast.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>

namespace boxcar::cpu {
namespace {

Tensor& copyInPlace(Tensor& self, const Tensor& src, bool /*non_blocking*/) {
  checkOnCpu(self);
  checkOnCpu(src);
  if (self.is_same(src)) return self;
  if (!std::ranges::equal(self.sizes(), src.sizes())) {
    const DimVector both = shape::broadcast(self.sizes(), src.sizes());
    BOXCAR_CHECK(std::ranges::equal(both, self.sizes()),
                 "output with shape [{}] doesn't match the broadcast shape [{}]", fmt::join(self.sizes(), ", "),
                 fmt::join(both, ", "));
  }
  checkNoInternalOverlap(self);
  // A source that shares memory with the target is read whole first.
  if (self.storage() == src.storage()) {
    copyElements(self, convertTo(src, src.scalar_type()));
  } else {
    copyElements(self, src);
  }
  self.storage()->bumpVersion();
  return self;
}

Scalar localScalarDense(const Tensor& self) {
  checkOnCpu(self);
  BOXCAR_CHECK(self.numel() == 1, "a Tensor with {} elements cannot be converted to Scalar", self.numel());
  return loadNumber(self.data_ptr(), self.scalar_type());
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("copy_", BOXCAR_FN(copyInPlace));
  m.impl("_local_scalar_dense", BOXCAR_FN(localScalarDense));
}

}  // namespace boxcar::cpu
