#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_gates.h>

namespace boxcar::cpu {

BOXCAR_GATE_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
