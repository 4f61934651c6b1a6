#pragma once

#include <boxcar/backends/cpu/loops.h>
#include <boxcar/backends/cpu/vector_functions.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

namespace boxcar::cpu {

// The element type of a pointwise operator's result, by the type that its inputs have in common.
enum class Result : uint8_t {
  kSame,   // that type
  kFloat,  // that type, but integers and bools are computed as float32
  kBool,
  kReal,       // that type, but the real part's of a complex one
  kFloatReal,  // as kFloat, but the real part's of a complex one
  kComplex,    // the complex type whose parts have that type
  kTruth,      // bool, and inputs are read as bools: whether they are not zero
};

inline constexpr size_t kScalarTypes = static_cast<size_t>(ScalarType::NumOptions);

// A pointwise operator: its name in messages, what it results in, and an inner loop for each element type that it
// takes.
struct Pointwise {
  std::string_view name;
  Result result;
  std::array<Loop, kScalarTypes> loops{};
  // The first input is a condition of bools and has no say in the common type.
  bool has_condition = false;
  // An out= must have the result's own type.
  bool exact_output = false;
  // Loops over integers may throw: results are written only when all are there.
  bool may_fail = false;
  // What the Error says when bools are not taken; empty for the usual text.
  std::string_view bool_refusal = {};
};

// What a pointwise operator reads: a tensor, or a number that takes part like a tensor without dimensions whose type
// yields to all others'. Refers to its argument.
class Input final {
 public:
  Input(const Tensor& tensor) : tensor_(&tensor) {}
  Input(const Scalar& number) : number_(&number) {}

  const Tensor* tensor() const { return tensor_; }
  const Scalar* number() const { return number_; }

 private:
  const Tensor* tensor_ = nullptr;
  const Scalar* number_ = nullptr;
};

using Inputs = std::initializer_list<Input>;

// Calls [op] on elements of [inputs], broadcast together and converted to their common type, and gives a new tensor.
// [params] is handed to the inner loop.
Tensor pointwise(const Pointwise& op, Inputs inputs, const Scalar* params = nullptr);

// The same, written to [out], which is resized when its sizes are others. An Error when its type cannot hold the
// result, or when [out] overlaps itself or, partly, an input.
Tensor& pointwiseOut(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params = nullptr);

// The same, written to [self], which must have the sizes of the result.
Tensor& pointwiseInPlace(const Pointwise& op, Tensor& self, Inputs inputs, const Scalar* params = nullptr);

// An Error when two elements of [tensor] share memory, so that it cannot be written to.
void checkNoInternalOverlap(const Tensor& tensor);
// An Error when [output] and [input] share some memory; being the same elements in the same order is allowed.
void checkNoPartialOverlap(const Tensor& output, const Tensor& input);
// Gives [out] other sizes, and more memory when they need it. Its elements are not kept.
void resizeOutput(const Tensor& out, std::span<const int64_t> sizes);
// An Error when [tensor] is neither on the CPU nor on Meta.
void checkCpuOrMeta(const Tensor& tensor);
// The device of all of [tensors], CPU or Meta. An Error when they are on several; a tensor of the CPU without
// dimensions goes along with any device.
Device commonDevice(std::initializer_list<const Tensor*> tensors);

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

template <Result result, class T>
struct ResultElementOf {
  using type = T;
};
template <class T>
struct ResultElementOf<Result::kBool, T> {
  using type = bool;
};
template <class T>
struct ResultElementOf<Result::kTruth, T> {
  using type = bool;
};
template <class T>
struct ResultElementOf<Result::kReal, T> {
  using type = RealOf<T>;
};
template <class T>
struct ResultElementOf<Result::kFloatReal, T> {
  using type = RealOf<T>;
};
template <class T>
struct ResultElementOf<Result::kComplex, T> {
  using type = std::complex<T>;
};
template <Result result, class T>
using ResultElement = typename ResultElementOf<result, T>::type;

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

// A Pointwise of the functor F<C>, C being what elements of each of [types] are computed in. A functor that is
// constructible from `const Scalar*` is made from the call's parameters. One of one input that has a member
// `static constexpr VectorFunction kVector` is computed by that function's rows where there are any, one of two inputs
// by those of `static constexpr VectorPair kVectorPair`. A member kBoolRefusal is what bools are refused with; one that
// is called kExactOutput stands for Pointwise::exact_output, kMayFail for may_fail.
template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr Pointwise makePointwise(std::string_view name, ElementTypes<Ts...>) {
  Pointwise op{name, result};
  ((op.loops[static_cast<size_t>(scalarTypeOf<Ts>)] = detail::loopOf<F, arity, result, Ts>()), ...);
  if constexpr (requires { F<float>::kExactOutput; }) op.exact_output = F<float>::kExactOutput;
  if constexpr (requires { F<float>::kMayFail; }) op.may_fail = F<float>::kMayFail;
  if constexpr (requires { F<float>::kBoolRefusal; }) op.bool_refusal = F<float>::kBoolRefusal;
  return op;
}

}  // namespace boxcar::cpu
