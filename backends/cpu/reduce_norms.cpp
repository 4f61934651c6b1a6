#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_norms.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(L2Norm, functors::L2Norm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(L1Norm, functors::L1Norm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(L0Norm, functors::L0Norm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(LpNorm, functors::LpNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(InfNorm, functors::InfNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NegInfNorm, functors::NegInfNorm, AsComputed, functors::kContinuousTypes)

}  // namespace boxcar::cpu
