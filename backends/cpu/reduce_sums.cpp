#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_sums.h>

namespace boxcar::cpu {

template <class T>
struct AccumulatesAs<functors::Mean<T>> {
  using type = functors::Sum<T>;
};

// The sum of bools is the number of true ones.
constexpr ReduceLoops sumLoops() {
  ReduceLoops loops = makeReduceLoops<functors::Sum, AsLong>(kAllTypes);
  loops[static_cast<size_t>(ScalarType::Bool)] = &kReduceLoop<functors::CountNonzero, AsBool, bool>;
  return loops;
}
template <>
const ReduceLoops LoopsOfReducer<Reducer::kSum>::value = sumLoops();
BOXCAR_DEFINE_REDUCE_LOOPS(Nansum, functors::Nansum, AsComputed, kFloatingTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Prod, functors::Prod, AsLong, kAllTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Mean, functors::Mean, AsComputed, functors::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(CountNonzero, functors::CountNonzero, AsBool, kAllTypes)

}  // namespace boxcar::cpu
