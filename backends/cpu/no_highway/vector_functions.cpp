#include <boxcar/backends/cpu/vector_functions.h>
#include <boxcar/backends/functors/pointwise_activation.h>
#include <boxcar/backends/functors/pointwise_activation_gradients.h>
#include <boxcar/backends/functors/pointwise_arithmetic.h>
#include <boxcar/backends/functors/pointwise_binary.h>
#include <boxcar/backends/functors/pointwise_binary_activation.h>
#include <boxcar/backends/functors/pointwise_bitwise.h>
#include <boxcar/backends/functors/pointwise_comparison.h>
#include <boxcar/backends/functors/pointwise_complex.h>
#include <boxcar/backends/functors/pointwise_exponential.h>
#include <boxcar/backends/functors/pointwise_hyperbolic.h>
#include <boxcar/backends/functors/pointwise_losses.h>
#include <boxcar/backends/functors/pointwise_memory.h>
#include <boxcar/backends/functors/pointwise_power.h>
#include <boxcar/backends/functors/pointwise_products.h>
#include <boxcar/backends/functors/pointwise_rounding.h>
#include <boxcar/backends/functors/pointwise_special.h>
#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/functors/pointwise_ternary.h>
#include <boxcar/backends/functors/pointwise_trigonometric.h>
#include <boxcar/backends/functors/vector_names.h>

#include <array>
#include <type_traits>

namespace boxcar::cpu {

using namespace functors;

namespace {

#define BOXCAR_COUNT(name) +1
constexpr size_t kFunctions = 0 BOXCAR_VECTOR_UNARY_FUNCTIONS(BOXCAR_COUNT);
#undef BOXCAR_COUNT

template <class T>
using Rows = std::array<VectorUnaryRow<T>, kFunctions>;

template <class F, class T>
void mapRow(const T* in, T* out, size_t n, [[maybe_unused]] const Scalar* params) {
  const auto map = [&](const F& f) {
    for (size_t i = 0; i < n; ++i) out[i] = f(in[i]);
  };
  if constexpr (std::is_constructible_v<F, const Scalar*>) {
    map(F(params));
  } else {
    map(F());
  }
}

// Stores the row of the functor F, if it has one of its own.
template <template <class> class F, class T>
constexpr void put(Rows<T>& rows) {
  if constexpr (requires { VectorUnaryOf<kFunctorOf<F>>::value; })
    rows[static_cast<size_t>(VectorUnaryOf<kFunctorOf<F>>::value)] = mapRow<F<T>, T>;
}

template <class T>
constexpr Rows<T> makeRows() {
  Rows<T> rows{};
#define BOXCAR_PUT(functor, arity, result, types) put<functors::functor, T>(rows);
  BOXCAR_FUNCTORS(BOXCAR_PUT)
#undef BOXCAR_PUT
  return rows;
}

template <class T>
constexpr Rows<T> kUnaryRows = makeRows<T>();

template <class T>
constexpr bool hasAll(const Rows<T>& rows) {
  for (const VectorUnaryRow<T> row : rows) {
    if (row == nullptr) return false;
  }
  return true;
}
static_assert(hasAll<float>(kUnaryRows<float>) && hasAll<double>(kUnaryRows<double>),
              "a function that no functor names");

}  // namespace

template <>
VectorUnaryRow<float> vectorUnaryRow<float>(VectorUnary function) {
  return kUnaryRows<float>[static_cast<size_t>(function)];
}
template <>
VectorUnaryRow<double> vectorUnaryRow<double>(VectorUnary function) {
  return kUnaryRows<double>[static_cast<size_t>(function)];
}
// The functors' own loops are used instead.
template <>
VectorBinaryRow<float> vectorBinaryRow<float>(VectorBinary) {
  return nullptr;
}
template <>
VectorBinaryRow<double> vectorBinaryRow<double>(VectorBinary) {
  return nullptr;
}

}  // namespace boxcar::cpu
