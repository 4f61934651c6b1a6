#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_rounding.h>

namespace boxcar::cpu {

BOXCAR_ROUNDING_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
