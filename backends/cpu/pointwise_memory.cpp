#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_memory.h>

namespace boxcar::cpu {

BOXCAR_MEMORY_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
