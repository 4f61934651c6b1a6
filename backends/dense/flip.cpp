#include <boxcar/backends/dense/flip.h>
#include <boxcar/backends/dense/memory_checks.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/shape/layout.h>
#include <boxcar/backends/shape/views.h>

#include <span>

namespace boxcar::dense {
namespace {

// Reads flipped dimensions from the end, with negative steps.
Tensor flip(const Tensor& self, std::span<const int64_t> dims) {
  checkDense(self);
  const uint64_t flipped = dims.empty() ? 0 : shape::dimensionMask(dims, self.dim());
  const Tensor result =
      shape::allocateStrided(self.sizes(), shape::denseStrides(self), self.scalar_type(), self.device());
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

BOXCAR_DENSE_KERNELS(aten, m, copyInSteps) { m.impl("flip", BOXCAR_FN(flip)); }

}  // namespace boxcar::dense
