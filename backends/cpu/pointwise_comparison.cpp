#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_comparison.h>

namespace boxcar::cpu {

BOXCAR_COMPARISON_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
