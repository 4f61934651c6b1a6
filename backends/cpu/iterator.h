#pragma once

#include <boxcar/backends/cpu/loops.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <array>
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
  kReal,   // that type, but the real part's of a complex one
  kTruth,  // bool, and inputs are read as bools: whether they are not zero
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
// An Error when [tensor] is not on the CPU.
void checkOnCpu(const Tensor& tensor);

namespace detail {

template <template <class> class F, class T>
struct FunctorLoop {
  using C = Compute<T>;

  static F<C> make([[maybe_unused]] const Scalar* params) {
    if constexpr (std::is_constructible_v<F<C>, const Scalar*>) {
      return F<C>(params);
    } else {
      return F<C>();
    }
  }

  template <size_t arity, class Out>
  static void run(char* const* data, const int64_t* steps, int64_t n0, int64_t n1, const Scalar* params) {
    const F<C> f = make(params);
    if constexpr (arity == 0) {
      elementwise<Out>(data, steps, n0, n1, [&] { return static_cast<Out>(f()); });
    } else if constexpr (arity == 1) {
      elementwise<Out, T>(data, steps, n0, n1, [&](T a) { return static_cast<Out>(f(static_cast<C>(a))); });
    } else {
      elementwise<Out, T, T>(data, steps, n0, n1,
                             [&](T a, T b) { return static_cast<Out>(f(static_cast<C>(a), static_cast<C>(b))); });
    }
  }
};

template <Result result, class T>
using ResultElement = std::conditional_t<result == Result::kBool || result == Result::kTruth, bool,
                                         std::conditional_t<result == Result::kReal, RealOf<T>, T>>;

}  // namespace detail

// A Pointwise of the functor F<C>, C being what elements of each of [types] are computed in. A functor that is
// constructible from `const Scalar*` is made from the call's parameters.
template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr Pointwise makePointwise(std::string_view name, ElementTypes<Ts...>) {
  Pointwise op{name, result};
  ((op.loops[static_cast<size_t>(scalarTypeOf<Ts>)] =
        detail::FunctorLoop<F, Ts>::template run<arity, detail::ResultElement<result, Ts>>),
   ...);
  return op;
}

}  // namespace boxcar::cpu
