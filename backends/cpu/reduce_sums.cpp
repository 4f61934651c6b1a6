#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_sums.h>

namespace boxcar::cpu {

template <class T>
struct AccumulatesAs<elements::Mean<T>> {
  using type = elements::Sum<T>;
};

BOXCAR_DEFINE_REDUCE_LOOPS(Sum, elements::Sum, AsLong, kAllTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NanSum, elements::NanSum, AsComputed, kFloatingTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Product, elements::Product, AsLong, kAllTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Mean, elements::Mean, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NonZeros, elements::NonZeros, AsBool, kAllTypes)

}  // namespace boxcar::cpu
