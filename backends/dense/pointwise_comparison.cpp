#include <boxcar/backends/dense/pointwise_registration.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/elements/pointwise_comparison.h>
#include <boxcar/backends/elements/pointwise_table.h>

#include <cstdint>
#include <type_traits>

namespace boxcar::dense {

BOXCAR_DENSE_KERNELS(aten, m, runPointwise) { BOXCAR_COMPARISON_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::dense
