#include <boxcar/backends/cuda/kernels/pointwise_launch.h>
#include <boxcar/backends/functors/pointwise_power.h>

namespace boxcar::cuda {

BOXCAR_POWER_FUNCTORS(BOXCAR_DEFINE_LAUNCHERS)

}  // namespace boxcar::cuda
