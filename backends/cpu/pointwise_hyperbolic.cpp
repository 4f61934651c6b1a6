#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/elements/pointwise_hyperbolic.h>

namespace boxcar::cpu {

BOXCAR_HYPERBOLIC_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
