#pragma once

#include <boxcar/backends/functors/parameters.h>
#include <boxcar/backends/native/pointwise.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

// Generates an operator's kernels and their registrations from a line of pointwise_table.h.

namespace boxcar::native {

// A string literal as a template argument.
template <size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
  constexpr std::string_view view() const { return {text, n - 1}; }
};

namespace detail {

inline Scalar toParameter(const Scalar& value) { return value; }
inline Scalar toParameter(double value) { return value; }
inline Scalar toParameter(int64_t value) { return value; }
// A bool represents None, as it is never a float.
inline Scalar toParameter(std::optional<double> value) { return value.has_value() ? Scalar(*value) : Scalar(false); }

// The parameters of a functor besides its inputs: F<T>::Parameters, if any.
template <class Functor>
struct ParametersOf {
  using type = Arguments<>;
};
template <class Functor>
requires requires { typename Functor::Parameters; }
struct ParametersOf<Functor> {
  using type = typename Functor::Parameters;
};

}  // namespace detail

// The kernels of a Pointwise [op] that takes inputs [In…] (tensors and numbers) and parameters [P…]. Check is the
// functor; its check(inputs…, parameters…), if it has one, is called first.
template <const Pointwise& op, class Check, class In, class P>
struct Kernels;

template <const Pointwise& op, class Check, class First, class... Rest, class... P>
struct Kernels<op, Check, Arguments<First, Rest...>, Arguments<P...>> {
  static Tensor functional(First first, Rest... rest, P... params) {
    check(first, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwise(op, {first, fitted(first, rest)...}, sizeof...(P) == 0 ? op.function : numbers);
  }
  static Tensor& inPlace(Tensor& self, Rest... rest, P... params) {
    check(self, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwiseInPlace(op, self, {self, fitted(self, rest)...}, sizeof...(P) == 0 ? op.function : numbers);
  }
  static Tensor& out(First first, Rest... rest, P... params, Tensor& out) {
    check(first, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwiseOut(op, out, {first, fitted(first, rest)...}, sizeof...(P) == 0 ? op.function : numbers);
  }

 private:
  // A functor's fit(self, number) replaces a number.
  template <class Self, class Input>
  static decltype(auto) fitted(const Self& self, const Input& input) {
    if constexpr (requires { Check::fit(self, input); }) {
      return Check::fit(self, input);
    } else {
      return (input);
    }
  }
  template <class... Args>
  static void check(const Args&... args) {
    if constexpr (requires { Check::check(args...); }) Check::check(args...);
  }
};

// The overload part of an operator's name; the overload may not exist.
struct Overload {
  char text[20] = {};
  bool exists = false;
  constexpr Overload() = default;
  template <size_t n>
  constexpr Overload(const char (&literal)[n]) : exists(true) {
    std::copy_n(literal, n, text);
  }
};

// The overloads of an operator of one or three tensors.
struct Forms {
  Overload functional;
  Overload in_place;
  Overload out;
};
inline constexpr Forms kAllForms{"", "", "out"};
inline constexpr Forms kNotInPlace{"", {}, "out"};
inline constexpr Forms kFunctionalOnly{"", {}, {}};
inline constexpr Forms kOutOnly{{}, {}, "out"};
inline constexpr Forms kDecimalsForms{"decimals", "decimals", "decimals_out"};
inline constexpr Forms kTensorForms{"Tensor", "Tensor", "Tensor_out"};

// The overloads of an operator of two inputs, one of which may be a number.
struct BinaryForms {
  Overload tensor = {}, scalar = {}, scalar_tensor = {};
  Overload tensor_in_place = {}, scalar_in_place = {};
  Overload tensor_out = {}, scalar_out = {}, scalar_tensor_out = {};
};
// For two tensors only.
inline constexpr BinaryForms kPlainForms{.tensor = "", .tensor_in_place = "", .tensor_out = "out"};
inline constexpr BinaryForms kPlainNotInPlace{.tensor = "", .tensor_out = "out"};
inline constexpr BinaryForms kTensorsOnly{.tensor = ""};
// The overloads of gradients.
inline constexpr BinaryForms kGradientForms{.tensor = "", .tensor_out = "grad_input"};
// The overloads of mul, div and copysign.
inline constexpr BinaryForms kArithmeticForms{.tensor = "Tensor",
                                              .scalar = "Scalar",
                                              .tensor_in_place = "Tensor",
                                              .scalar_in_place = "Scalar",
                                              .tensor_out = "out"};
inline constexpr BinaryForms kCopysignForms{.tensor = "Tensor",
                                            .scalar = "Scalar",
                                            .tensor_in_place = "Tensor",
                                            .scalar_in_place = "Scalar",
                                            .tensor_out = "out",
                                            .scalar_out = "Scalar_out"};
inline constexpr BinaryForms kFloorDivideForms{
    .tensor = "", .scalar = "Scalar", .tensor_in_place = "Tensor", .scalar_in_place = "Scalar", .tensor_out = "out"};
// The overloads of comparisons.
inline constexpr BinaryForms kComparisonForms{.tensor = "Tensor",
                                              .scalar = "Scalar",
                                              .tensor_in_place = "Tensor",
                                              .scalar_in_place = "Scalar",
                                              .tensor_out = "Tensor_out",
                                              .scalar_out = "Scalar_out"};
// Like kComparisonForms, plus a number as first input.
inline constexpr BinaryForms kBitwiseForms{.tensor = "Tensor",
                                           .scalar = "Scalar",
                                           .scalar_tensor = "Scalar_Tensor",
                                           .tensor_in_place = "Tensor",
                                           .scalar_in_place = "Scalar",
                                           .tensor_out = "Tensor_out",
                                           .scalar_out = "Scalar_out"};
inline constexpr BinaryForms kShiftForms{.tensor = "Tensor",
                                         .scalar = "Tensor_Scalar",
                                         .scalar_tensor = "Scalar_Tensor",
                                         .tensor_in_place = "Tensor",
                                         .scalar_in_place = "Tensor_Scalar",
                                         .tensor_out = "Tensor_out",
                                         .scalar_out = "Tensor_Scalar_out"};
inline constexpr BinaryForms kShiftOperatorForms{.tensor = "Tensor", .scalar = "Scalar"};
inline constexpr BinaryForms kXlogyForms{.tensor = "Tensor",
                                         .scalar = "Scalar_Other",
                                         .scalar_tensor = "Scalar_Self",
                                         .tensor_in_place = "Tensor",
                                         .scalar_in_place = "Scalar_Other",
                                         .tensor_out = "OutTensor",
                                         .scalar_out = "OutScalar_Other",
                                         .scalar_tensor_out = "OutScalar_Self"};
// The overloads of clamp_min and clamp_max: the number variant has the empty overload name.
inline constexpr BinaryForms kClampForms{.tensor = "Tensor",
                                         .scalar = "",
                                         .tensor_in_place = "Tensor",
                                         .scalar_in_place = "",
                                         .tensor_out = "Tensor_out",
                                         .scalar_out = "out"};
// The overloads of special functions and of polynomials.
inline constexpr BinaryForms kSpecialForms{.tensor = "",
                                           .scalar = "other_scalar",
                                           .scalar_tensor = "self_scalar",
                                           .tensor_out = "out",
                                           .scalar_out = "other_scalar_out",
                                           .scalar_tensor_out = "self_scalar_out"};
inline constexpr BinaryForms kPolynomialForms{.tensor = "",
                                              .scalar = "n_scalar",
                                              .scalar_tensor = "x_scalar",
                                              .tensor_out = "out",
                                              .scalar_out = "n_scalar_out",
                                              .scalar_tensor_out = "x_scalar_out"};
// Two tensors and a number parameter, like the weight of lerp.
inline constexpr BinaryForms kScalarParameterForms{
    .tensor = "Scalar", .tensor_in_place = "Scalar", .tensor_out = "Scalar_out"};

template <Name name, template <class> class F, size_t arity, Result result, auto types>
inline constexpr Pointwise kPointwise = makePointwise<F, arity, result>(name.view(), types);

// The operator that is function [number] of a functor of many functions.
template <int number>
inline constexpr Scalar kFunctionNumber{number};
template <Name name, Functor functor, int number>
inline constexpr Pointwise kFunctionPointwise = {
    .name = name.view(),
    .functor = functor,
    .result = Result::kFloat,
    .types = maskOf(kFloatingTypes),
    .function = &kFunctionNumber<number>,
};

// The source location at which a line's family is registered; `boxcar table` shows it.
using Where = std::source_location;

// The kernels of one line, so that registering them takes a table instead of code.
struct OverloadKernel {
  const Overload* overload = nullptr;
  bool is_in_place = false;
  const ::boxcar::detail::StatelessKernel* kernel = nullptr;
};
void registerOverloads(Library& m, std::string_view op, std::span<const OverloadKernel> kernels, const Where& where);

template <class Op, Forms forms>
constexpr auto makeFormsTable() {
  std::array<OverloadKernel, forms.functional.exists + forms.in_place.exists + forms.out.exists> table;
  size_t n = 0;
  using ::boxcar::detail::kStatelessKernelOf;
  if constexpr (forms.functional.exists)
    table[n++] = {&forms.functional, false, &kStatelessKernelOf<Op::functional, WriteCount::kAlways>};
  if constexpr (forms.in_place.exists)
    table[n++] = {&forms.in_place, true, &kStatelessKernelOf<Op::inPlace, WriteCount::kAlways>};
  if constexpr (forms.out.exists) table[n++] = {&forms.out, false, &kStatelessKernelOf<Op::out, WriteCount::kAlways>};
  return table;
}
template <class Op, Forms forms>
inline constexpr auto kFormsTable = makeFormsTable<Op, forms>();

template <class Tensors, class WithNumber, class NumberFirst, BinaryForms forms>
constexpr auto makeBinaryTable() {
  std::array<OverloadKernel, forms.tensor.exists + forms.scalar.exists + forms.scalar_tensor.exists +
                                 forms.tensor_in_place.exists + forms.scalar_in_place.exists + forms.tensor_out.exists +
                                 forms.scalar_out.exists + forms.scalar_tensor_out.exists>
      table;
  size_t n = 0;
  using ::boxcar::detail::kStatelessKernelOf;
  if constexpr (forms.tensor.exists)
    table[n++] = {&forms.tensor, false, &kStatelessKernelOf<Tensors::functional, WriteCount::kAlways>};
  if constexpr (forms.scalar.exists)
    table[n++] = {&forms.scalar, false, &kStatelessKernelOf<WithNumber::functional, WriteCount::kAlways>};
  if constexpr (forms.scalar_tensor.exists)
    table[n++] = {&forms.scalar_tensor, false, &kStatelessKernelOf<NumberFirst::functional, WriteCount::kAlways>};
  if constexpr (forms.tensor_in_place.exists)
    table[n++] = {&forms.tensor_in_place, true, &kStatelessKernelOf<Tensors::inPlace, WriteCount::kAlways>};
  if constexpr (forms.scalar_in_place.exists)
    table[n++] = {&forms.scalar_in_place, true, &kStatelessKernelOf<WithNumber::inPlace, WriteCount::kAlways>};
  if constexpr (forms.tensor_out.exists)
    table[n++] = {&forms.tensor_out, false, &kStatelessKernelOf<Tensors::out, WriteCount::kAlways>};
  if constexpr (forms.scalar_out.exists)
    table[n++] = {&forms.scalar_out, false, &kStatelessKernelOf<WithNumber::out, WriteCount::kAlways>};
  if constexpr (forms.scalar_tensor_out.exists)
    table[n++] = {&forms.scalar_tensor_out, false, &kStatelessKernelOf<NumberFirst::out, WriteCount::kAlways>};
  return table;
}
template <class Tensors, class WithNumber, class NumberFirst, BinaryForms forms>
inline constexpr auto kBinaryTable = makeBinaryTable<Tensors, WithNumber, NumberFirst, forms>();

// Registers the operator of one tensor [op], whose check and parameters are those of F.
template <const Pointwise& op, class F, Forms forms>
void registerUnaryOperator(Library& m, const Where& where) {
  using Op = Kernels<op, F, Arguments<const Tensor&>, typename detail::ParametersOf<F>::type>;
  registerOverloads(m, op.name, kFormsTable<Op, forms>, where);
}

// Registers the operator of two inputs [op].
template <const Pointwise& op, class F, BinaryForms forms>
void registerBinaryOperator(Library& m, const Where& where) {
  using Parameters = typename detail::ParametersOf<F>::type;
  using Tensors = Kernels<op, F, Arguments<const Tensor&, const Tensor&>, Parameters>;
  using WithNumber = Kernels<op, F, Arguments<const Tensor&, const Scalar&>, Parameters>;
  using NumberFirst = Kernels<op, F, Arguments<const Scalar&, const Tensor&>, Parameters>;
  registerOverloads(m, op.name, kBinaryTable<Tensors, WithNumber, NumberFirst, forms>, where);
}

// Registers one line of the table: an operator of one tensor.
template <Name name, template <class> class F, Result result, auto types, Forms forms>
void registerUnary(Library& m, const Where& where = Where::current()) {
  registerUnaryOperator<kPointwise<name, F, 1, result, types>, F<float>, forms>(m, where);
}

// Registers an operator of two inputs.
template <Name name, template <class> class F, Result result, auto types, BinaryForms forms>
void registerBinary(Library& m, const Where& where = Where::current()) {
  registerBinaryOperator<kPointwise<name, F, 2, result, types>, F<float>, forms>(m, where);
}

// Registers an operator of three tensors.
template <Name name, template <class> class F, Result result, auto types, Forms forms>
void registerTernary(Library& m, const Where& where = Where::current()) {
  using Op =
      Kernels<kPointwise<name, F, 3, result, types>, F<float>, Arguments<const Tensor&, const Tensor&, const Tensor&>,
              typename detail::ParametersOf<F<float>>::type>;
  registerOverloads(m, name.view(), kFormsTable<Op, forms>, where);
}

// Registers the operators of a table of pointwise_table.h in the block [m].
#define BOXCAR_REGISTER_POINTWISE(TABLE, m) TABLE(BOXCAR_REGISTER_OPERATOR, BOXCAR_NO_LINE, BOXCAR_REGISTER_ALIAS, m)
#define BOXCAR_REGISTER_OPERATOR(m, kind, functor, result, types, vectors, name, forms) \
  register##kind<name, functor, Result::result, types, forms>(m);
#define BOXCAR_REGISTER_ALIAS(m, kind, functor, result, types, name, forms) \
  register##kind<name, functor, Result::result, types, forms>(m);

}  // namespace boxcar::native
