#include <boxcar/backends/functors/pointwise_binary.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/pointwise_registration.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/ivalue/error.h>

#include <type_traits>

namespace boxcar::native {

BOXCAR_NATIVE_KERNELS(aten, m, runPointwise) { BOXCAR_REGISTER_POINTWISE(BOXCAR_BINARY_TABLE, m) }

}  // namespace boxcar::native
