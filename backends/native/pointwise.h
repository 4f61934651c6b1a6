#pragma once

#include <boxcar/backends/functors/pointwise_table.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace boxcar::native {

using namespace functors;

// A set of element types, one bit each.
using TypeMask = uint32_t;
inline constexpr size_t kScalarTypes = static_cast<size_t>(ScalarType::NumOptions);
constexpr TypeMask maskOf(ScalarType type) { return TypeMask{1} << static_cast<int>(type); }
template <class... Ts>
constexpr TypeMask maskOf(ElementTypes<Ts...>) {
  return (maskOf(scalarTypeOf<Ts>) | ...);
}
// Throws the Error of operator [name] for a type that is not in [types].
[[noreturn]] void failUnsupportedType(std::string_view name, ScalarType type, TypeMask types);

// A pointwise operator: its name in messages, the element function, the kind of its result and the element types that
// it takes.
struct Pointwise {
  std::string_view name;
  Functor functor;
  Result result;
  TypeMask types;
  // The first input is a condition of bools and does not take part in type promotion.
  bool has_condition = false;
  // An out= argument must have exactly the result's type.
  bool exact_output = false;
  // The function may refuse integers, so results are written only after all are computed.
  bool may_fail = false;
  // The Error message for bools if they are not supported; empty for the default.
  std::string_view bool_refusal = {};
  // What the functor is made from if the operator has no parameters: which of the functor's functions it is.
  const Scalar* function = nullptr;
};

// An input of a pointwise operator: a tensor, or a number, which acts like a zero-dimensional tensor whose type has the
// lowest priority in promotion. Refers to its argument.
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

// Applies [op] to the elements of [inputs], broadcast and converted to their common type, and returns a new tensor.
// [params] is passed to the inner loop.
Tensor pointwise(const Pointwise& op, Inputs inputs, const Scalar* params = nullptr);

// Like pointwise(), but writes to [out], which is resized if needed. Throws Error if its type cannot hold the result,
// or if [out] overlaps itself or, partly, an input.
Tensor& pointwiseOut(const Pointwise& op, Tensor& out, Inputs inputs, const Scalar* params = nullptr);

// Like pointwise(), but writes to [self], which must have the sizes of the result.
Tensor& pointwiseInPlace(const Pointwise& op, Tensor& self, Inputs inputs, const Scalar* params = nullptr);

// The work of a device: the functor, constructed from [params], on [count] operands. The first operand is written; the
// others are inputs with elements of [type] (a condition has bools). Operands may be identical, but not overlap in any
// other way.
struct PointwiseWork {
  Functor functor;
  ScalarType type;
  const Scalar* params;
  int count;
};
inline constexpr int kMaxOperands = 4;

// Contiguous operands: an address and a step, 0 or the element size, for each. The first kMaxOperands bits of [on_host]
// mark operands that are single elements in host memory.
struct FlatOperands {
  char* data[kMaxOperands] = {};
  int64_t steps[2 * kMaxOperands] = {};
  uint32_t on_host = 0;
};
using FlatPointwise = void(const PointwiseWork& work, const FlatOperands& operands, int64_t n);

// Any other operands: sizes that broadcast to those of the first, and strides in elements of [itemsize] bytes. A single
// element in host memory has no sizes, and an itemsize of 0.
struct StridedOperand {
  void* data;
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;
  size_t itemsize;
};
using StridedPointwise = void(const PointwiseWork& work, const StridedOperand* operands);

extern DeviceStub<FlatPointwise> runFlat;
extern DeviceStub<StridedPointwise> runPointwise;

// Returns a Pointwise of the functor F<C>, where C is the compute type of each of [types]. A functor constructible from
// `const Scalar*` is made from the parameters of the call. The optional members kBoolRefusal, kExactOutput and kMayFail
// set Pointwise::bool_refusal, exact_output and may_fail.
template <template <class> class F, size_t arity, Result result, class... Ts>
constexpr Pointwise makePointwise(std::string_view name, ElementTypes<Ts...> types) {
  static_assert(kFunctorOf<F> != Functor::kSelect, "the functor is missing in functors/pointwise_table.h");
  Pointwise op{name, kFunctorOf<F>, result, maskOf(types)};
  if constexpr (requires { F<float>::kExactOutput; }) op.exact_output = F<float>::kExactOutput;
  if constexpr (requires { F<float>::kMayFail; }) op.may_fail = F<float>::kMayFail;
  if constexpr (requires { F<float>::kBoolRefusal; }) op.bool_refusal = F<float>::kBoolRefusal;
  return op;
}

}  // namespace boxcar::native
