#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_minmax.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(Amax, functors::Amax, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Amin, functors::Amin, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Aminmax, functors::Aminmax, AsInt, kRealAndBoolTypes)

}  // namespace boxcar::cpu
