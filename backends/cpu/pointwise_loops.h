#pragma once

#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/vector_functions.h>
#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/result_element.h>
#include <boxcar/ivalue/scalar.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

// The CPU's inner loops of pointwise operators, made of functors: one of one input that has a member
// `static constexpr VectorFunction kVector` is computed by that function's rows where there are any, one of two inputs
// by those of `static constexpr VectorPair kVectorPair`.

namespace boxcar::cpu {

using namespace elements;

namespace detail {

// The loop of a functor F on what elements of T are computed in. F is a type, not a template: of a template in an
// unnamed namespace GCC makes a loop that other files' loops of that name replace.
template <class F, class T>
struct FunctorLoop {
  using C = Compute<T>;

  static F make([[maybe_unused]] const Scalar* params) {
    if constexpr (std::is_constructible_v<F, const Scalar*>) {
      return F(params);
    } else {
      return F();
    }
  }

  template <size_t arity, class Out>
  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    const F f = make(params);
    if constexpr (arity == 0) {
      elementwise<Out>(data, steps, n0, n1, [&] { return static_cast<Out>(f()); });
    } else if constexpr (arity == 1) {
      elementwise<Out, T>(data, steps, n0, n1, [&](T a) { return static_cast<Out>(f(static_cast<C>(a))); });
    } else if constexpr (arity == 2) {
      elementwise<Out, T, T>(data, steps, n0, n1,
                             [&](T a, T b) { return static_cast<Out>(f(static_cast<C>(a), static_cast<C>(b))); });
    } else {
      elementwise<Out, T, T, T>(data, steps, n0, n1, [&](T a, T b, T c) {
        return static_cast<Out>(f(static_cast<C>(a), static_cast<C>(b), static_cast<C>(c)));
      });
    }
  }
};

// The loop of a functor that has rows for vectors: F::kVector names them. Elements of float16 and bfloat16, and
// those that do not follow each other, go through a buffer.
template <class F, class T>
struct VectorLoop {
  using C = Compute<T>;
  static constexpr int64_t kBuffer = 256;

  static void row(VectorRow<C> rows, char* out, int64_t out_step, const char* in, int64_t in_step, int64_t n,
                  const Scalar* params) {
    if (std::is_same_v<T, C> && in_step == sizeof(T) && out_step == sizeof(T))
      return rows(reinterpret_cast<const C*>(in), reinterpret_cast<C*>(out), static_cast<size_t>(n), params);
    C buffer[kBuffer];
    for (int64_t i = 0; i < n; i += kBuffer, in += kBuffer * in_step, out += kBuffer * out_step) {
      const int64_t count = std::min(kBuffer, n - i);
      move<C, T>(reinterpret_cast<char*>(buffer), sizeof(C), in, in_step, count);
      rows(buffer, buffer, static_cast<size_t>(count), params);
      move<T, C>(out, out_step, reinterpret_cast<const char*>(buffer), sizeof(C), count);
    }
  }

  // Converts [n] elements; those that follow each other in a loop that the compiler vectorises.
  template <class To, class From>
  static void move(char* out, int64_t out_step, const char* in, int64_t in_step, int64_t n) {
    if (in_step == sizeof(From) && out_step == sizeof(To)) {
      const From* from = reinterpret_cast<const From*>(in);
      To* to = reinterpret_cast<To*>(out);
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<To*>(out + i * out_step) = static_cast<To>(*reinterpret_cast<const From*>(in + i * in_step));
    }
  }

  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    const VectorRow<C> rows = vectorRow<C>(F::kVector);
    if (rows == nullptr) return FunctorLoop<F, T>::template run<1, T>(data, steps, n0, n1, params);
    for (int64_t j = 0; j < n1; ++j) {
      row(rows, data[0] + j * steps[kMaxOperands], steps[0], data[1] + j * steps[kMaxOperands + 1], steps[1], n0,
          params);
    }
  }
};

// The loop of a functor of two inputs that has rows for vectors: F::kVectorPair names them. Other rows than those of
// elements that follow each other, or of one element, are left to the functor.
template <class F, class T>
struct VectorPairLoop {
  // Shorter rows are not worth the choice.
  static constexpr int64_t kShortest = 16;

  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    const auto follows = [&](int operand) { return steps[operand] == sizeof(T); };
    const bool suits = n0 >= kShortest && follows(0) && (follows(1) || steps[1] == 0) && (follows(2) || steps[2] == 0);
    const VectorPairRow<T> rows = suits ? vectorPairRow<T>(F::kVectorPair) : nullptr;
    if (rows == nullptr) return FunctorLoop<F, T>::template run<2, T>(data, steps, n0, n1, params);
    for (int64_t j = 0; j < n1; ++j) {
      const auto address = [&](int operand) { return data[operand] + j * steps[kMaxOperands + operand]; };
      rows(reinterpret_cast<const T*>(address(1)), follows(1), reinterpret_cast<const T*>(address(2)), follows(2),
           reinterpret_cast<T*>(address(0)), static_cast<size_t>(n0));
    }
  }
};

// Whether F<C> names rows for vectors.
template <class Functor, class C>
concept HasVector = std::is_floating_point_v<C> && requires {
  Functor::kVector;
};
template <class Functor, class T>
concept HasVectorPair = std::is_floating_point_v<T> && requires {
  Functor::kVectorPair;
};

template <template <class> class F, size_t arity, Result result, class T>
constexpr Loop loopOf() {
  using Out = ResultElement<result, T>;
  using Functor = F<Compute<T>>;
  if constexpr (arity == 1 && std::is_same_v<Out, T> && HasVector<Functor, Compute<T>>) {
    return VectorLoop<Functor, T>::run;
  } else if constexpr (arity == 2 && std::is_same_v<Out, T> && HasVectorPair<Functor, T>) {
    return VectorPairLoop<Functor, T>::run;
  } else {
    return FunctorLoop<Functor, T>::template run<arity, Out>;
  }
}

}  // namespace detail

// A loop for each element type that a functor takes.
using Loops = std::array<Loop, dense::kScalarTypes>;

// Those of each functor: a family's file defines them.
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

// Defines them for a line of elements/functor_list.h.
#define BOXCAR_DEFINE_LOOPS(functor, arity, result, types) \
  template <>                                              \
  const Loops LoopsOf<Functor::k##functor>::value = makeLoops<elements::functor, arity, Result::result>(types);

#define BOXCAR_DECLARE_LOOPS(functor, arity, result, types) \
  template <>                                               \
  const Loops LoopsOf<Functor::k##functor>::value;
BOXCAR_FUNCTORS(BOXCAR_DECLARE_LOOPS)
#undef BOXCAR_DECLARE_LOOPS
template <>
const Loops LoopsOf<Functor::kSelect>::value;

}  // namespace boxcar::cpu
