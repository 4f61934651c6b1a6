#pragma once

#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/vector_functions.h>
#include <boxcar/backends/functors/result_element.h>
#include <boxcar/backends/functors/vector_names.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/ivalue/scalar.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

// The CPU's inner loops of pointwise operators, made from functors. A functor that pointwise_table.h marks with Vector
// or As(…) uses vector rows for float and double if there are any.

namespace boxcar::cpu {

using namespace functors;

namespace detail {

// The loop of a functor F on elements of T. F is a type, not a template: for a template in an unnamed namespace, GCC
// emits a loop that clashes with the loops of the same name in other files.
template <class F, class T>
struct FunctorLoop {
  static F make([[maybe_unused]] const Scalar* params) {
    if constexpr (std::is_constructible_v<F, const Scalar*>) {
      return F(params);
    } else {
      return F();
    }
  }

  template <size_t arity, class Out>
  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    return runOf<Out>(data, steps, n0, n1, params, std::make_index_sequence<arity>());
  }

 private:
  template <size_t>
  using In = T;

  template <class Out, size_t... k>
  static void runOf(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params,
                    std::index_sequence<k...>) {
    if constexpr (sizeof...(k) > 1) {
      if (hasNumbers(kElementSizes<Out, In<k>...>, steps, n0)) [[unlikely]] {
        return repeatNumbers(run<sizeof...(k), Out>, kElementSizes<Out, In<k>...>, data, steps, n0, n1, params);
      }
    }
    const F f = make(params);
    elementwise<Out, In<k>...>(data, steps, n0, n1, [&](In<k>... in) { return static_cast<Out>(f(in...)); });
  }
};

// Computes float16 or bfloat16 elements with a loop for float: inputs and, if [narrows], results go through buffers.
struct FloatLoop {
  Loop loop;
  int inputs;
  ScalarType type;
  bool narrows;
};
void runInFloats(const FloatLoop& of_floats, char* const* data, const int64_t* steps, int64_t n0, int64_t n1,
                 const Scalar* params);

template <Loop loop, size_t arity, class T, bool narrows>
void runSmallFloats(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
  static constexpr FloatLoop kLoop{loop, arity, scalarTypeOf<T>, narrows};
  runInFloats(kLoop, data, steps, n0, n1, params);
}

// Runs vector rows with any steps; non-contiguous elements go through a buffer.
template <class T>
void runVectorRows(VectorUnaryRow<T> rows, char* const* data, const int64_t* steps, int64_t n0, int64_t n1,
                   const Scalar* params);
extern template void runVectorRows(VectorUnaryRow<float>, char* const*, const int64_t*, int64_t, int64_t,
                                   const Scalar*);
extern template void runVectorRows(VectorUnaryRow<double>, char* const*, const int64_t*, int64_t, int64_t,
                                   const Scalar*);

// The loop of a functor with the vector rows of [function].
template <VectorUnary function, class T>
void runVector(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
  runVectorRows(vectorUnaryRow<T>(function), data, steps, n0, n1, params);
}

// The loop of a functor of two inputs with the vector rows of [pair]. They handle operands that are
// contiguous or a single repeated element; the functor itself handles all other rows.
template <class F, class T, VectorBinary pair>
struct VectorBinaryLoop {
  // Shorter rows are not worth the check.
  static constexpr int64_t kShortest = 16;

  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    const auto follows = [&](int operand) { return steps[operand] == sizeof(T); };
    const bool suits = n0 >= kShortest && follows(0) && (follows(1) || steps[1] == 0) && (follows(2) || steps[2] == 0);
    const VectorBinaryRow<T> rows = suits ? vectorBinaryRow<T>(pair) : nullptr;
    if (rows == nullptr) return FunctorLoop<F, T>::template run<2, T>(data, steps, n0, n1, params);
    for (int64_t j = 0; j < n1; ++j) {
      const auto address = [&](int operand) { return data[operand] + j * steps[kMaxOperands + operand]; };
      rows(reinterpret_cast<const T*>(address(1)), follows(1), reinterpret_cast<const T*>(address(2)), follows(2),
           reinterpret_cast<T*>(address(0)), static_cast<size_t>(n0), params);
    }
  }
};

// Whether the functor F has vector rows for elements of T.
template <template <class> class F, class T>
concept HasVector = std::is_floating_point_v<T> && requires {
  VectorUnaryOf<kVectorSourceOf<F>>::value;
};
template <template <class> class F, class T>
concept HasVectorBinary = std::is_floating_point_v<T> && requires {
  VectorBinaryOf<kVectorSourceOf<F>>::value;
};

template <template <class> class F, size_t arity, Result result, class T>
constexpr Loop loopOf() {
  using Out = ResultElement<result, T>;
  if constexpr (kIsSmallFloat<T>) {
    return runSmallFloats<loopOf<F, arity, result, float>(), arity, T, std::is_same_v<Out, T>>;
  } else if constexpr (arity == 1 && std::is_same_v<Out, T> && HasVector<F, T>) {
    return runVector<VectorUnaryOf<kVectorSourceOf<F>>::value, T>;
  } else if constexpr (arity == 2 && std::is_same_v<Out, T> && HasVectorBinary<F, T>) {
    return VectorBinaryLoop<F<T>, T, VectorBinaryOf<kVectorSourceOf<F>>::value>::run;
  } else {
    return FunctorLoop<F<T>, T>::template run<arity, Out>;
  }
}

}  // namespace detail

// A loop for each element type that a functor supports.
using Loops = std::array<Loop, native::kScalarTypes>;

// Returns the loop of a functor on elements of [type].
Loop loopOf(Functor functor, ScalarType type);

// Returns how many elements in a row a functor computes in the time of kParallelGrain steps.
int64_t grainOf(Functor functor, ScalarType type);

// The loops of each functor, defined in the file of its family.
template <Functor functor>
struct LoopsOf {
  static const Loops value;
};

template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr Loops makeLoops(ElementTypes<Ts...>) {
  Loops loops{};
  ((loops[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::loopOf<F, arity, result, Ts>()), ...);
  return loops;
}

// Defines the loops for a line of functors/pointwise_table.h.
#define BOXCAR_DEFINE_LOOPS(functor, arity, result, types) \
  template <>                                              \
  const Loops LoopsOf<Functor::k##functor>::value = makeLoops<functors::functor, arity, Result::result>(types);

#define BOXCAR_DECLARE_LOOPS(functor, arity, result, types) \
  template <>                                               \
  const Loops LoopsOf<Functor::k##functor>::value;
BOXCAR_FUNCTORS(BOXCAR_DECLARE_LOOPS)
#undef BOXCAR_DECLARE_LOOPS
template <>
const Loops LoopsOf<Functor::kSelect>::value;
template <>
const Loops LoopsOf<Functor::kUnaryFunction>::value;
template <>
const Loops LoopsOf<Functor::kBinaryFunction>::value;

}  // namespace boxcar::cpu
