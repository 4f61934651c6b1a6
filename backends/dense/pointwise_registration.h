#pragma once

#include <boxcar/backends/dense/pointwise.h>
#include <boxcar/backends/elements/parameters.h>
#include <boxcar/dispatcher/library.h>
#include <boxcar/ivalue/error.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

// What makes an operator's kernels, and their registrations, of a line of pointwise_table.h.

namespace boxcar::dense {

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
// A bool stands for None, which no float is.
inline Scalar toParameter(std::optional<double> value) { return value.has_value() ? Scalar(*value) : Scalar(false); }

// What a functor is handed besides its inputs: F<T>::Parameters, if there are any.
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

// The kernels of a Pointwise [op] that takes [In…] (tensors and numbers) and the parameters [P…]. Check is the functor:
// check(inputs…, parameters…), where it has one, is called first.
template <const Pointwise& op, class Check, class In, class P>
struct Kernels;

template <const Pointwise& op, class Check, class First, class... Rest, class... P>
struct Kernels<op, Check, Arguments<First, Rest...>, Arguments<P...>> {
  static Tensor functional(First first, Rest... rest, P... params) {
    check(first, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwise(op, {first, rest...}, sizeof...(P) == 0 ? nullptr : numbers);
  }
  static Tensor& inPlace(Tensor& self, Rest... rest, P... params) {
    check(self, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwiseInPlace(op, self, {self, rest...}, sizeof...(P) == 0 ? nullptr : numbers);
  }
  static Tensor& out(First first, Rest... rest, P... params, Tensor& out) {
    check(first, rest..., params...);
    const Scalar numbers[] = {detail::toParameter(params)..., Scalar()};
    return pointwiseOut(op, out, {first, rest...}, sizeof...(P) == 0 ? nullptr : numbers);
  }

 private:
  template <class... Args>
  static void check(const Args&... args) {
    if constexpr (requires { Check::check(args...); }) Check::check(args...);
  }
};

// An overload's name behind the operator's; an operator may be without the overload.
struct Overload {
  char text[20] = {};
  bool exists = false;
  constexpr Overload() = default;
  template <size_t n>
  constexpr Overload(const char (&literal)[n]) : exists(true) {
    std::copy_n(literal, n, text);
  }
  std::string under(std::string_view op) const {
    return text[0] == '\0' ? std::string(op) : std::string(op) + "." + text;
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
inline constexpr Forms kNotOut{"", "", {}};
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
// Of two tensors only.
inline constexpr BinaryForms kPlainForms{.tensor = "", .tensor_in_place = "", .tensor_out = "out"};
inline constexpr BinaryForms kPlainNotInPlace{.tensor = "", .tensor_out = "out"};
// As mul, div and copysign have them.
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
// As comparisons have them.
inline constexpr BinaryForms kComparisonForms{.tensor = "Tensor",
                                              .scalar = "Scalar",
                                              .tensor_in_place = "Tensor",
                                              .scalar_in_place = "Scalar",
                                              .tensor_out = "Tensor_out",
                                              .scalar_out = "Scalar_out"};
// The same with a number first.
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
// As clamp_min and clamp_max have them: the number is what stands without a name.
inline constexpr BinaryForms kClampForms{.tensor = "Tensor",
                                         .scalar = "",
                                         .tensor_in_place = "Tensor",
                                         .scalar_in_place = "",
                                         .tensor_out = "Tensor_out",
                                         .scalar_out = "out"};
// A second tensor, or lerp's weight, that is no number.
inline constexpr BinaryForms kScalarParameterForms{
    .tensor = "Scalar", .tensor_in_place = "Scalar", .tensor_out = "Scalar_out"};

template <Name name, template <class> class F, size_t arity, Result result, auto types>
inline constexpr Pointwise kPointwise = makePointwise<F, arity, result>(name.view(), types);

// Where a line's family registers it: what `boxcar table` shows.
using Where = std::source_location;

template <class Op, Forms forms>
void registerForms(Library& m, const std::string& op, const Where& where) {
  if constexpr (forms.functional.exists) m.impl(forms.functional.under(op), BOXCAR_FN(Op::functional), where);
  if constexpr (forms.in_place.exists) m.impl(forms.in_place.under(op + "_"), BOXCAR_FN(Op::inPlace), where);
  if constexpr (forms.out.exists) m.impl(forms.out.under(op), BOXCAR_FN(Op::out), where);
}

// One line of the table: an operator of one tensor.
template <Name name, template <class> class F, Result result, auto types, Forms forms>
void registerUnary(Library& m, const Where& where = Where::current()) {
  using Op = Kernels<kPointwise<name, F, 1, result, types>, F<float>, Arguments<const Tensor&>,
                     typename detail::ParametersOf<F<float>>::type>;
  registerForms<Op, forms>(m, std::string(name.view()), where);
}

// An operator of two inputs.
template <Name name, template <class> class F, Result result, auto types, BinaryForms forms>
void registerBinary(Library& m, const Where& where = Where::current()) {
  using Parameters = typename detail::ParametersOf<F<float>>::type;
  using Tensors =
      Kernels<kPointwise<name, F, 2, result, types>, F<float>, Arguments<const Tensor&, const Tensor&>, Parameters>;
  using WithNumber =
      Kernels<kPointwise<name, F, 2, result, types>, F<float>, Arguments<const Tensor&, const Scalar&>, Parameters>;
  using NumberFirst =
      Kernels<kPointwise<name, F, 2, result, types>, F<float>, Arguments<const Scalar&, const Tensor&>, Parameters>;
  const std::string op(name.view());
  if constexpr (forms.tensor.exists) m.impl(forms.tensor.under(op), BOXCAR_FN(Tensors::functional), where);
  if constexpr (forms.scalar.exists) m.impl(forms.scalar.under(op), BOXCAR_FN(WithNumber::functional), where);
  if constexpr (forms.scalar_tensor.exists)
    m.impl(forms.scalar_tensor.under(op), BOXCAR_FN(NumberFirst::functional), where);
  if constexpr (forms.tensor_in_place.exists)
    m.impl(forms.tensor_in_place.under(op + "_"), BOXCAR_FN(Tensors::inPlace), where);
  if constexpr (forms.scalar_in_place.exists)
    m.impl(forms.scalar_in_place.under(op + "_"), BOXCAR_FN(WithNumber::inPlace), where);
  if constexpr (forms.tensor_out.exists) m.impl(forms.tensor_out.under(op), BOXCAR_FN(Tensors::out), where);
  if constexpr (forms.scalar_out.exists) m.impl(forms.scalar_out.under(op), BOXCAR_FN(WithNumber::out), where);
  if constexpr (forms.scalar_tensor_out.exists)
    m.impl(forms.scalar_tensor_out.under(op), BOXCAR_FN(NumberFirst::out), where);
}

// An operator of three tensors.
template <Name name, template <class> class F, Result result, auto types, Forms forms>
void registerTernary(Library& m, const Where& where = Where::current()) {
  using Op =
      Kernels<kPointwise<name, F, 3, result, types>, F<float>, Arguments<const Tensor&, const Tensor&, const Tensor&>,
              typename detail::ParametersOf<F<float>>::type>;
  registerForms<Op, forms>(m, std::string(name.view()), where);
}

// Registers a line of pointwise_table.h in the block `m`.
#define BOXCAR_REGISTER_POINTWISE(kind, name, functor, result, types, forms) \
  register##kind<name, functor, Result::result, types, forms>(m);

}  // namespace boxcar::dense
