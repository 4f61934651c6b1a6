#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/functors/reduce_argmax.h>

namespace boxcar::cuda {

using namespace functors;
BOXCAR_PLACE_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
