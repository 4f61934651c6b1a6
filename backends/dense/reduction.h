#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/reducer_list.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace boxcar::dense {

// A reduction: its name in messages, what it accumulates, and for each element type that it takes the types of its
// results.
struct Reduction {
  std::string_view name;
  Reducer reducer;
  TypeMask types;
  std::array<ScalarType, kScalarTypes> results{};
  // Undefined for a reduction with one result.
  std::array<ScalarType, kScalarTypes> second_results{};

  // The type of the result of elements of [type]; an Error when there is none.
  ScalarType resultType(ScalarType type) const;
};

// What a device computes: reduces the dimensions of [mask] of [self] to [out], which has the result's type and sizes,
// with or without the reduced dimensions. [second] receives the second result where it is wanted: it has the sizes and
// strides of [out]. [param] is what the reduction was called with besides.
using ReductionFunction = void(Reducer reducer, const Tensor& out, const Tensor* second, const Tensor& self,
                               uint64_t mask, double param);
extern DeviceFunction<ReductionFunction> runReduction;

// The same on the device of [self]; on Meta nothing. The result does not depend on the number of threads.
void reduce(const Reduction& op, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask,
            double param = 0);

// The same, giving a new tensor.
Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, double param = 0);

// The same, giving both results.
std::pair<Tensor, Tensor> reduceToPair(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim,
                                       double param = 0);

// The variances over some dimensions, divided by the count less the parameter, and as second result the means.
const Reduction& varianceReduction();

namespace detail {

template <class Op>
constexpr ScalarType secondTypeOf() {
  if constexpr (requires { typename Op::Second; }) {
    return scalarTypeOf<typename Op::Second>;
  } else {
    return ScalarType::Undefined;
  }
}

}  // namespace detail

template <template <class> class Op>
inline constexpr Reducer kReducerOf = Reducer::kCount;

// A Reduction of Op<T> for each of [types].
template <template <class> class Op, class... Ts>
constexpr Reduction makeReduction(std::string_view name, ElementTypes<Ts...> types) {
  static_assert(kReducerOf<Op> != Reducer::kCount, "the reducer is missing in elements/reducer_list.h");
  Reduction op{name, kReducerOf<Op>, maskOf(types)};
  ((op.results[static_cast<size_t>(scalarTypeOf<Ts>)] = scalarTypeOf<typename Op<Ts>::Out>,
    op.second_results[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::secondTypeOf<Op<Ts>>()),
   ...);
  return op;
}

#define BOXCAR_NUMBER_REDUCER(reducer, types) \
  template <>                                 \
  inline constexpr Reducer kReducerOf<elements::reducer> = Reducer::k##reducer;
BOXCAR_REDUCERS(BOXCAR_NUMBER_REDUCER)
#undef BOXCAR_NUMBER_REDUCER

}  // namespace boxcar::dense
