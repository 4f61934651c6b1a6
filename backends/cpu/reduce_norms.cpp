#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_norms.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(SquaredNorm, functors::SquaredNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(SumNorm, functors::SumNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NonZeroNorm, functors::NonZeroNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(PowerNorm, functors::PowerNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(GreatestNorm, functors::GreatestNorm, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(LeastNorm, functors::LeastNorm, AsComputed, functors::kContinuousTypes)

}  // namespace boxcar::cpu
