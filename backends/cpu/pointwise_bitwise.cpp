#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_bitwise.h>

namespace boxcar::cpu {

BOXCAR_BITWISE_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
