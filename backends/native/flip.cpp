#include <boxcar/backends/meta/layout.h>
#include <boxcar/backends/meta/views.h>
#include <boxcar/backends/native/flip.h>
#include <boxcar/backends/native/memory_checks.h>
#include <boxcar/backends/native/registration.h>

#include <span>

namespace boxcar::native {

constinit DeviceStub<CopyInSteps> copyInSteps("flip");

namespace {

// Reads flipped dimensions from the end, with negative steps.
Tensor flip(const Tensor& self, std::span<const int64_t> dims) {
  checkDense(self);
  const uint64_t flipped = dims.empty() ? 0 : meta::dimensionMask(dims, self.dim());
  const Tensor result =
      meta::allocateStrided(self.sizes(), meta::denseStrides(self), self.scalar_type(), self.device());
  if (result.is_meta() || result.numel() == 0) return result;
  const auto itemsize = static_cast<int64_t>(self.itemsize());
  DimVector steps = toDimVector(self.strides());
  char* start = static_cast<char*>(self.data_ptr());
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] *= itemsize;
    if ((flipped >> i & 1) == 0) continue;
    start += (self.sizes()[i] - 1) * steps[i];
    steps[i] = -steps[i];
  }
  copyInSteps(result.device(), result, start, steps);
  return result;
}

}  // namespace

BOXCAR_NATIVE_KERNELS(aten, m, copyInSteps) { m.impl("flip", BOXCAR_FN(flip)); }

}  // namespace boxcar::native
