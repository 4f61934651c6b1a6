#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/elements/pointwise_rounding.h>

namespace boxcar::cpu {

BOXCAR_ROUNDING_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
