#include <boxcar/backends/functors/pointwise_complex.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/copy.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

namespace boxcar::native {
namespace {

constexpr const Pointwise& kAtan2 = kPointwise<"angle", Angle, 1, Result::kFloatReal, kContinuousTypes>;

// The result for complex numbers is contiguous.
Tensor angle(const Tensor& self) { return pointwise(kAtan2, {self.is_complex() ? toContiguous(self) : self}); }

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) {
  BOXCAR_REGISTER_POINTWISE(BOXCAR_COMPLEX_TABLE, m)
  m.impl("angle", BOXCAR_FN(angle));
}

}  // namespace boxcar::native
