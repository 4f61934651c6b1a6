#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_sums.h>

namespace boxcar::cpu {

BOXCAR_SUM_REDUCERS(BOXCAR_DEFINE_REDUCE_LOOP)

}  // namespace boxcar::cpu
