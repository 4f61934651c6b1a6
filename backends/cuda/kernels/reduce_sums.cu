#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/functors/reduce_sums.h>

namespace boxcar::cuda {

using namespace functors;
BOXCAR_SUM_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
