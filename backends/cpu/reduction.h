#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/reduce_loops.h>
#include <boxcar/backends/dense/reduction.h>

#include <array>

namespace boxcar::cpu {

// A loop for each element type that a reducer takes.
using ReduceLoops = std::array<ReduceLoop, dense::kScalarTypes>;

// Those of each reducer: a family's file defines them.
template <Reducer reducer>
struct LoopsOfReducer {
  static const ReduceLoops value;
};

#define BOXCAR_DECLARE_LOOPS(reducer, types) \
  template <>                                \
  const ReduceLoops LoopsOfReducer<Reducer::k##reducer>::value;
BOXCAR_REDUCERS(BOXCAR_DECLARE_LOOPS)
#undef BOXCAR_DECLARE_LOOPS

template <template <class> class Op, class... Ts>
constexpr ReduceLoops makeReduceLoops(ElementTypes<Ts...>) {
  ReduceLoops loops{};
  ((loops[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::ReduceRows<Op<Ts>, Ts>::loop), ...);
  return loops;
}

// Defines them for a line of elements/reducer_list.h.
#define BOXCAR_DEFINE_REDUCE_LOOP(reducer, types) \
  template <>                                     \
  const ReduceLoops LoopsOfReducer<Reducer::k##reducer>::value = makeReduceLoops<elements::reducer>(types);

}  // namespace boxcar::cpu
