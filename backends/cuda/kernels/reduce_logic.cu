#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/functors/reduce_logic.h>

namespace boxcar::cuda {

using namespace functors;
BOXCAR_TRUTH_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
