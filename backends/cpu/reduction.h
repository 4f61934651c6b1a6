#pragma once

#include <boxcar/backends/cpu/reduce_loops.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace boxcar::cpu {

// A reduction: its name in messages, and for each element type that it takes an inner loop and the types of its
// results.
struct Reduction {
  std::string_view name;
  std::array<ReduceLoop, kScalarTypes> loops{};
  std::array<ScalarType, kScalarTypes> results{};
  // Undefined for a reduction with one result.
  std::array<ScalarType, kScalarTypes> second_results{};

  // The type of the result of elements of [type]; an Error when there is none.
  ScalarType resultType(ScalarType type) const;
};

// Reduces the dimensions of [mask] of [self] to [out], which has the result's type and sizes, with or without the
// reduced dimensions. [second] receives the second result where it is wanted: it has the sizes and strides of [out].
// [param] is handed to the inner loop. The result does not depend on the number of threads.
void reduce(const Reduction& op, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask,
            double param = 0);

// The same, giving a new tensor.
Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, double param = 0);

// The same, giving both results.
std::pair<Tensor, Tensor> reduceToPair(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim,
                                       double param = 0);

// A Reduction of Op<T> for each of [types].
template <template <class> class Op, class... Ts>
constexpr Reduction makeReduction(std::string_view name, ElementTypes<Ts...>) {
  Reduction op{name};
  ((op.loops[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::ReduceLoops<Op<Ts>, Ts>::loop,
    op.results[static_cast<size_t>(scalarTypeOf<Ts>)] = scalarTypeOf<typename Op<Ts>::Out>,
    op.second_results[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::secondTypeOf<Op<Ts>>()),
   ...);
  return op;
}

}  // namespace boxcar::cpu
