#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_norms.h>

namespace boxcar::cpu {

BOXCAR_DEFINE_REDUCE_LOOPS(SquaredNorm, elements::SquaredNorm, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(SumNorm, elements::SumNorm, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NonZeroNorm, elements::NonZeroNorm, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(PowerNorm, elements::PowerNorm, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(GreatestNorm, elements::GreatestNorm, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(LeastNorm, elements::LeastNorm, AsComputed, elements::kContinuousTypes)

}  // namespace boxcar::cpu
