#include <boxcar/backends/cuda/kernels/pointwise_launch.h>
#include <boxcar/backends/functors/pointwise_bitwise.h>

namespace boxcar::cuda {

BOXCAR_BITWISE_FUNCTORS(BOXCAR_DEFINE_LAUNCHERS)

}  // namespace boxcar::cuda
