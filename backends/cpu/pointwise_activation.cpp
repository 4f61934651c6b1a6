#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_activation.h>

namespace boxcar::cpu {

BOXCAR_ACTIVATION_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
