#pragma once

#include <boxcar/backends/cpu/iterator.h>
#include <boxcar/dispatcher/library.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace boxcar::cpu {

// A string literal as a template argument.
template <size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
  constexpr std::string_view view() const { return {text, n - 1}; }
};

// The kernels of an operator of one input.
template <Name name, template <class> class F, Result result, auto types>
struct Unary {
  static constexpr Pointwise kOp = makePointwise<F, 1, result>(name.view(), types);

  static Tensor functional(const Tensor& self) { return pointwise(kOp, {self}); }
  static Tensor& inPlace(Tensor& self) { return pointwiseInPlace(kOp, self, {self}); }
  static Tensor& out(const Tensor& self, Tensor& out) { return pointwiseOut(kOp, out, {self}); }
};

// The kernels of an operator of two inputs, tensors or a tensor and a number.
template <Name name, template <class> class F, Result result, auto types>
struct Binary {
  static constexpr Pointwise kOp = makePointwise<F, 2, result>(name.view(), types);

  static Tensor tensor(const Tensor& self, const Tensor& other) { return pointwise(kOp, {self, other}); }
  static Tensor scalar(const Tensor& self, const Scalar& other) { return pointwise(kOp, {self, other}); }
  static Tensor scalarTensor(const Scalar& self, const Tensor& other) { return pointwise(kOp, {self, other}); }
  static Tensor& tensorInPlace(Tensor& self, const Tensor& other) { return pointwiseInPlace(kOp, self, {self, other}); }
  static Tensor& scalarInPlace(Tensor& self, const Scalar& other) { return pointwiseInPlace(kOp, self, {self, other}); }
  static Tensor& tensorOut(const Tensor& self, const Tensor& other, Tensor& out) {
    return pointwiseOut(kOp, out, {self, other});
  }
  static Tensor& scalarOut(const Tensor& self, const Scalar& other, Tensor& out) {
    return pointwiseOut(kOp, out, {self, other});
  }
};

// Which overloads of an operator a line of a table registers.
enum Overloads : unsigned {
  kFunctional = 1,         // op, or op.Tensor and op.Scalar
  kUnnamedFunctional = 2,  // op with two tensors, and op.Scalar
  kInPlace = 4,            // op_, or op_.Tensor and op_.Scalar
  kOut = 8,                // op.out
  kTensorOut = 16,         // op.Tensor_out
  kScalarOut = 32,         // op.Scalar_out
  kScalarTensor = 64,      // op.Scalar_Tensor
  kNoScalar = 128,         // without .Scalar; op_ has no overload name then
};

// One line of the table of an operator family: name, functor, result, element types, overloads.
template <Name name, template <class> class F, Result result, auto types,
          unsigned overloads = kFunctional | kInPlace | kOut>
void registerUnary(Library& m) {
  using Op = Unary<name, F, result, types>;
  const std::string op(name.view());
  if constexpr ((overloads & kFunctional) != 0) m.impl(op, BOXCAR_FN(Op::functional));
  if constexpr ((overloads & kInPlace) != 0) m.impl(op + "_", BOXCAR_FN(Op::inPlace));
  if constexpr ((overloads & kOut) != 0) m.impl(op + ".out", BOXCAR_FN(Op::out));
}

template <Name name, template <class> class F, Result result, auto types, unsigned overloads>
void registerBinary(Library& m) {
  using Op = Binary<name, F, result, types>;
  const std::string op(name.view());
  constexpr bool kScalar = (overloads & kNoScalar) == 0;
  if constexpr ((overloads & kFunctional) != 0) m.impl(op + ".Tensor", BOXCAR_FN(Op::tensor));
  if constexpr ((overloads & kUnnamedFunctional) != 0) m.impl(op, BOXCAR_FN(Op::tensor));
  if constexpr (kScalar) m.impl(op + ".Scalar", BOXCAR_FN(Op::scalar));
  if constexpr ((overloads & kInPlace) != 0) {
    m.impl(kScalar ? op + "_.Tensor" : op + "_", BOXCAR_FN(Op::tensorInPlace));
    if constexpr (kScalar) m.impl(op + "_.Scalar", BOXCAR_FN(Op::scalarInPlace));
  }
  if constexpr ((overloads & kOut) != 0) m.impl(op + ".out", BOXCAR_FN(Op::tensorOut));
  if constexpr ((overloads & kTensorOut) != 0) m.impl(op + ".Tensor_out", BOXCAR_FN(Op::tensorOut));
  if constexpr ((overloads & kScalarOut) != 0) m.impl(op + ".Scalar_out", BOXCAR_FN(Op::scalarOut));
  if constexpr ((overloads & kScalarTensor) != 0) m.impl(op + ".Scalar_Tensor", BOXCAR_FN(Op::scalarTensor));
}

}  // namespace boxcar::cpu
