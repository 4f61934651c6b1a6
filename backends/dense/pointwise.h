#pragma once

#include <boxcar/backends/dense/device_function.h>
#include <boxcar/backends/elements/functor_list.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace boxcar::dense {

using namespace elements;

// Element types, a bit for each.
using TypeMask = uint32_t;
inline constexpr size_t kScalarTypes = static_cast<size_t>(ScalarType::NumOptions);
constexpr TypeMask maskOf(ScalarType type) { return TypeMask{1} << static_cast<int>(type); }
template <class... Ts>
constexpr TypeMask maskOf(ElementTypes<Ts...>) {
  return (maskOf(scalarTypeOf<Ts>) | ...);
}
// The Error of operator [name] for a type that is not among [types].
[[noreturn]] void failUnsupportedType(std::string_view name, ScalarType type, TypeMask types);

// A pointwise operator: its name in messages, the function of elements, what it results in and which element types it
// takes.
struct Pointwise {
  std::string_view name;
  Functor functor;
  Result result;
  TypeMask types;
  // The first input is a condition of bools and has no say in the common type.
  bool has_condition = false;
  // An out= must have the result's own type.
  bool exact_output = false;
  // The function may refuse integers: results are written only when all are there.
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

// What a device computes: the functor, made from [params], of [count] operands; the first one is written, the others
// are inputs with elements of [type] (a condition has bools). Operands may be the same elements, but overlap in no
// other way.
struct PointwiseWork {
  Functor functor;
  ScalarType type;
  const Scalar* params;
  int count;
};
inline constexpr int kMaxOperands = 4;

// Of operands whose elements lie side by side: an address and a step, 0 or the size of an element, for each. The first
// kMaxOperands bits of [on_host] tell which ones are single elements in the memory of the host.
struct FlatOperands {
  char* data[kMaxOperands] = {};
  int64_t steps[2 * kMaxOperands] = {};
  uint32_t on_host = 0;
};
using FlatPointwise = void(const PointwiseWork& work, const FlatOperands& operands, int64_t n);

// Of any others: sizes that broadcast to those of the first, and strides in elements of [itemsize] bytes. A single
// element in the memory of the host has no sizes, and an itemsize of 0.
struct StridedOperand {
  void* data;
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;
  size_t itemsize;
};
using StridedPointwise = void(const PointwiseWork& work, const StridedOperand* operands);

extern DeviceFunction<FlatPointwise> runFlat;
extern DeviceFunction<StridedPointwise> runPointwise;

template <template <class> class F>
inline constexpr Functor kFunctorOf = Functor::kSelect;

// A Pointwise of the functor F<C>, C being what elements of each of [types] are computed in. A functor that is
// constructible from `const Scalar*` is made from the call's parameters. A member kBoolRefusal is what bools are
// refused with; one that is called kExactOutput stands for Pointwise::exact_output, kMayFail for may_fail.
template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr Pointwise makePointwise(std::string_view name, ElementTypes<Ts...> types) {
  static_assert(kFunctorOf<F> != Functor::kSelect, "the functor is missing in elements/functor_list.h");
  Pointwise op{name, kFunctorOf<F>, result, maskOf(types)};
  if constexpr (requires { F<float>::kExactOutput; }) op.exact_output = F<float>::kExactOutput;
  if constexpr (requires { F<float>::kMayFail; }) op.may_fail = F<float>::kMayFail;
  if constexpr (requires { F<float>::kBoolRefusal; }) op.bool_refusal = F<float>::kBoolRefusal;
  return op;
}

#define BOXCAR_NUMBER_FUNCTOR(functor, arity, result, types) \
  template <>                                                \
  inline constexpr Functor kFunctorOf<elements::functor> = Functor::k##functor;
BOXCAR_FUNCTORS(BOXCAR_NUMBER_FUNCTOR)
#undef BOXCAR_NUMBER_FUNCTOR

}  // namespace boxcar::dense
