#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_ternary.h>

namespace boxcar::cpu {

BOXCAR_TERNARY_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
