#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/elements/reduce_sums.h>

namespace boxcar::cpu {

template <class T>
struct AccumulatesAs<elements::Mean<T>> {
  using type = elements::Sum<T>;
};

// The sum of bools is the number of true ones.
constexpr ReduceLoops sumLoops() {
  ReduceLoops loops = makeReduceLoops<elements::Sum, AsLong>(kAllTypes);
  loops[static_cast<size_t>(ScalarType::Bool)] = &kReduceLoop<elements::NonZeros, AsBool, bool>;
  return loops;
}
template <>
const ReduceLoops LoopsOfReducer<Reducer::kSum>::value = sumLoops();
BOXCAR_DEFINE_REDUCE_LOOPS(NanSum, elements::NanSum, AsComputed, kFloatingTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Product, elements::Product, AsLong, kAllTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(Mean, elements::Mean, AsComputed, elements::kContinuousTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(NonZeros, elements::NonZeros, AsBool, kAllTypes)

}  // namespace boxcar::cpu
