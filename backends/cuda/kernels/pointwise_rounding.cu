#include <boxcar/backends/cuda/kernels/pointwise_launch.h>
#include <boxcar/backends/functors/pointwise_rounding.h>

namespace boxcar::cuda {

BOXCAR_ROUNDING_FUNCTORS(BOXCAR_DEFINE_LAUNCHERS)

}  // namespace boxcar::cuda
