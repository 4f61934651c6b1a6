#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/elements/reduce_moments.h>

namespace boxcar::cuda {

using namespace elements;
BOXCAR_MOMENT_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
