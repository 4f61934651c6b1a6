#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_pairs.h>

namespace boxcar::cpu {

BOXCAR_PAIR_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
