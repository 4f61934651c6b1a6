#include <boxcar/backends/cuda/kernels/pointwise_launch.h>
#include <boxcar/backends/functors/pointwise_hyperbolic.h>

namespace boxcar::cuda {

BOXCAR_HYPERBOLIC_FUNCTORS(BOXCAR_DEFINE_LAUNCHERS)

}  // namespace boxcar::cuda
