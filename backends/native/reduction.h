#pragma once

#include <boxcar/backends/functors/reducer_list.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace boxcar::native {

// A reduction: its name in messages, its reducer, and the types of its results for each element type that it takes.
struct Reduction {
  std::string_view name;
  Reducer reducer;
  TypeMask types;
  std::array<ScalarType, kScalarTypes> results{};
  // Undefined for reductions with one result.
  std::array<ScalarType, kScalarTypes> second_results{};

  // Returns the result type for elements of [type]; throws Error if the type is not supported.
  ScalarType resultType(ScalarType type) const;
};

// The work of a device: reduces the dimensions of [mask] of [self] to [out], which has the result's type and sizes,
// with or without the reduced dimensions. [second] receives the second result if it is wanted, and has the sizes and
// strides of [out]. [param] is the parameter of the call.
using ReductionFunction = void(Reducer reducer, const Tensor& out, const Tensor* second, const Tensor& self,
                               uint64_t mask, double param);
extern DeviceStub<ReductionFunction> runReduction;

// Runs the reduction on the device of [self]; does nothing on Meta. The result does not depend on the number of
// threads.
void reduce(const Reduction& op, const Tensor& out, const Tensor* second, const Tensor& self, uint64_t mask,
            double param = 0);

// Returns the result as a new tensor.
Tensor reduce(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim, double param = 0);

// Returns both results as new tensors.
std::pair<Tensor, Tensor> reduceToPair(const Reduction& op, const Tensor& self, uint64_t mask, bool keepdim,
                                       double param = 0);

// Returns the reduction to variances, divided by the count minus the parameter, with the means as second result.
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

// Returns a Reduction with Op<T> for each of [types].
template <template <class> class Op, class... Ts>
constexpr Reduction makeReduction(std::string_view name, ElementTypes<Ts...> types) {
  static_assert(kReducerOf<Op> != Reducer::kCount, "the reducer is missing in functors/reducer_list.h");
  Reduction op{name, kReducerOf<Op>, maskOf(types)};
  ((op.results[static_cast<size_t>(scalarTypeOf<Ts>)] = scalarTypeOf<typename Op<Ts>::Out>,
    op.second_results[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::secondTypeOf<Op<Ts>>()),
   ...);
  return op;
}

#define BOXCAR_NUMBER_REDUCER(reducer, types) \
  template <>                                 \
  inline constexpr Reducer kReducerOf<functors::reducer> = Reducer::k##reducer;
BOXCAR_REDUCERS(BOXCAR_NUMBER_REDUCER)
#undef BOXCAR_NUMBER_REDUCER

}  // namespace boxcar::native
