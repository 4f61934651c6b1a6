#include <boxcar/backends/cpu/reduction.h>
#include <boxcar/backends/functors/reduce_logic.h>

#include <cstdint>

namespace boxcar::cpu {
namespace {

// Op, Any or All, on rows, in a loop that the compiler vectorises.
template <class T, class Op>
struct TruthRows : Op {
  using Acc = typename Op::Acc;

  static Acc run(const T* x, int64_t n, int64_t) {
    Acc acc = Op::identity();
    for (int64_t i = 0; i < n; ++i) acc = Op::take(acc, x[i], 0);
    return acc;
  }
};
template <class T>
using AnyTrueRows = TruthRows<T, functors::Any<T>>;
template <class T>
using AllTrueRows = TruthRows<T, functors::All<T>>;

}  // namespace

BOXCAR_DEFINE_REDUCE_LOOPS(Any, AnyTrueRows, AsBool, kAllTypes)
BOXCAR_DEFINE_REDUCE_LOOPS(All, AllTrueRows, AsBool, kAllTypes)

}  // namespace boxcar::cpu
