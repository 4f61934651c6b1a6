#pragma once

#include <boxcar/backends/cpu/names.h>
#include <boxcar/backends/cpu/reduce_loops.h>
#include <boxcar/backends/native/reduction.h>

#include <array>

namespace boxcar::cpu {

// A loop for each element type that a reducer supports.
using ReduceLoops = std::array<const ReduceLoop*, native::kScalarTypes>;

// The loops of each reducer, defined in the file of its family.
template <Reducer reducer>
struct LoopsOfReducer {
  static const ReduceLoops value;
};

#define BOXCAR_DECLARE_LOOPS(reducer, types) \
  template <>                                \
  const ReduceLoops LoopsOfReducer<Reducer::k##reducer>::value;
BOXCAR_REDUCERS(BOXCAR_DECLARE_LOOPS)
#undef BOXCAR_DECLARE_LOOPS

template <template <class> class Op, template <class> class As, class... Ts>
constexpr ReduceLoops makeReduceLoops(ElementTypes<Ts...>) {
  ReduceLoops loops{};
  ((loops[static_cast<size_t>(scalarTypeOf<Ts>)] = &kReduceLoop<Op, As, Ts>), ...);
  return loops;
}

// Defines the loops of a reducer: Op for elements of [types], which are converted as given by As.
#define BOXCAR_DEFINE_REDUCE_LOOPS(reducer, Op, As, types) \
  template <>                                              \
  const ReduceLoops LoopsOfReducer<Reducer::k##reducer>::value = makeReduceLoops<Op, As>(types);

}  // namespace boxcar::cpu
