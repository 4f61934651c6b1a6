#include <boxcar/backends/dense/pointwise_registration.h>
#include <boxcar/backends/dense/registration.h>
#include <boxcar/backends/elements/pointwise_pairs.h>
#include <boxcar/backends/elements/pointwise_table.h>
#include <boxcar/ivalue/error.h>

#include <type_traits>

namespace boxcar::dense {

BOXCAR_DENSE_KERNELS(aten, m, runPointwise) { BOXCAR_PAIR_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::dense
