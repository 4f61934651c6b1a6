#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/functors/pointwise_trigonometric.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>

namespace boxcar::native {

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) { BOXCAR_REGISTER_POINTWISE(BOXCAR_TRIGONOMETRIC_TABLE, m) }

}  // namespace boxcar::native
