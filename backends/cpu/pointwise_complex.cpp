#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_complex.h>

namespace boxcar::cpu {

BOXCAR_COMPLEX_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
