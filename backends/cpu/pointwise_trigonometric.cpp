#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_trigonometric.h>

namespace boxcar::cpu {

BOXCAR_TRIGONOMETRIC_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
