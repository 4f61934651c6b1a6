#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_arithmetic.h>

namespace boxcar::cpu {

BOXCAR_ARITHMETIC_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
