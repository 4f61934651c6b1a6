#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_extremes.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(Greatest, elements::Greatest, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Least, elements::Least, AsInt, kRealAndBoolTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(LeastAndGreatest, elements::LeastAndGreatest, AsInt, kRealAndBoolTypes)

}  // namespace boxcar::cpu
