#include <boxcar/backends/dense/pointwise_registration.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/elements/pointwise_hyperbolic.h>
#include <boxcar/backends/elements/pointwise_table.h>

namespace boxcar::dense {

BOXCAR_DENSE_KERNELS(aten, m, runPointwise) { BOXCAR_HYPERBOLIC_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::dense
