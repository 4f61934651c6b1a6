#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_special.h>

namespace boxcar::cpu {

BOXCAR_SPECIAL_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
