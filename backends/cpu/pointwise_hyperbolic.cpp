#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_hyperbolic.h>

namespace boxcar::cpu {

BOXCAR_HYPERBOLIC_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
