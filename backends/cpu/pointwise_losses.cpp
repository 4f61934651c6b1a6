#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_losses.h>

namespace boxcar::cpu {

BOXCAR_LOSS_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
