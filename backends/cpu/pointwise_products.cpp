#include <boxcar/backends/cpu/pointwise_loops.h>
#include <boxcar/backends/functors/pointwise_products.h>

namespace boxcar::cpu {

BOXCAR_PRODUCT_FUNCTORS(BOXCAR_DEFINE_LOOPS)

}  // namespace boxcar::cpu
