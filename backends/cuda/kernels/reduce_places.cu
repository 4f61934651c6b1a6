#include <boxcar/backends/cuda/kernels/reduce_launch.h>
#include <boxcar/backends/elements/reduce_places.h>

namespace boxcar::cuda {

using namespace elements;
BOXCAR_PLACE_REDUCERS(BOXCAR_DEFINE_REDUCE_LAUNCHERS)

}  // namespace boxcar::cuda
