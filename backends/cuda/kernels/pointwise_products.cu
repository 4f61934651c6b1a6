#include <boxcar/backends/cuda/kernels/pointwise_launch.h>
#include <boxcar/backends/functors/pointwise_products.h>

namespace boxcar::cuda {

BOXCAR_PRODUCT_FUNCTORS(BOXCAR_DEFINE_LAUNCHERS)

}  // namespace boxcar::cuda
