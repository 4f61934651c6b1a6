#include <boxcar/backends/dense/pointwise_registration.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/elements/pointwise_exponential.h>
#include <boxcar/backends/elements/pointwise_table.h>

#include <optional>

namespace boxcar::dense {

BOXCAR_DENSE_KERNELS(aten, m, runPointwise) { BOXCAR_EXPONENTIAL_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::dense
