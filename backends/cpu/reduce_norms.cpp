#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_norms.h>

namespace boxcar::cpu {

BOXCAR_NORM_REDUCERS(BOXCAR_DEFINE_REDUCE_LOOP)

}  // namespace boxcar::cpu
