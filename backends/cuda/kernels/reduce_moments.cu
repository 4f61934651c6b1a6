#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/functors/reduce_moments.h>

namespace boxcar::cuda {

using namespace functors;
BOXCAR_MOMENT_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
