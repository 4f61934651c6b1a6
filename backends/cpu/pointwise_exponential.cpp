#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_exponential.h>

namespace boxcar::cpu {

BOXCAR_EXPONENTIAL_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
