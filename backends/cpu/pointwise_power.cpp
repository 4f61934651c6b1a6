#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_power.h>

namespace boxcar::cpu {

BOXCAR_POWER_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
