#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_extremes.h>

namespace boxcar::cpu {

BOXCAR_EXTREME_REDUCERS(BOXCAR_DEFINE_REDUCE_LOOP)

}  // namespace boxcar::cpu
