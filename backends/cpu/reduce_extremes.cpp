#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_extremes.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(Greatest, functors::Greatest, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Least, functors::Least, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(LeastAndGreatest, functors::LeastAndGreatest, AsInt, kRealAndBoolTypes)

}  // namespace boxcar::cpu
