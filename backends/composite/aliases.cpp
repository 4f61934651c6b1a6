#include <boxcar/dispatcher/registry/declared_operator.h>
#include <boxcar/dispatcher/registry/library.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>

// Operators that are aliases of another operator.

namespace boxcar::composite {
namespace {

// A string literal as a template argument.
template <size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
};

// The kernel that calls operator [name] with overload [overload].
template <Name name, Name overload, class Signature>
struct Call;

template <Name name, Name overload, class Result, class... Args>
struct Call<name, overload, Result(Args...)> {
  static Result kernel(Args... args) { return op.call(std::forward<Args>(args)...); }

 private:
  static inline constinit DeclaredOperator<Result(Args...)> op{name.text, overload.text};
};

void addKernel(Library& m, std::string_view alias, std::string_view overload,
               const boxcar::detail::StatelessKernel& kernel, std::source_location where) {
  std::string full(alias);
  if (!overload.empty()) (full += '.') += overload;
  m.impl(full, kernel, where);
}

// Registers [alias] as an alias of `aten::[name]`. Its overload is [alias_overload], or that of the other operator.
template <Name name, Name overload, class Signature>
void add(Library& m, std::string_view alias, std::string_view alias_overload = overload.text,
         std::source_location where = std::source_location::current()) {
  addKernel(m, alias, alias_overload,
            boxcar::detail::kStatelessKernelOf<&Call<name, overload, Signature>::kernel, WriteCount::kNever>, where);
}

using In = const Tensor&;
using Number = const Scalar&;
using Mode = std::optional<std::string_view>;
using OptionalNumber = const std::optional<Scalar>&;
using OptionalIn = const std::optional<Tensor>&;

template <Name name, Name in_place>
void addUnary(Library& m, const std::string& alias) {
  add<name, "", Tensor(In)>(m, alias);
  add<in_place, "", Tensor&(Tensor&)>(m, alias + "_");
  add<name, "out", Tensor&(In, Tensor&)>(m, alias);
}

template <Name name>
void addSpecial(Library& m, std::string_view alias) {
  add<name, "", Tensor(In)>(m, alias);
  add<name, "out", Tensor&(In, Tensor&)>(m, alias);
}

template <Name name, Name in_place>
void addArithmetic(Library& m, const std::string& alias) {
  add<name, "Tensor", Tensor(In, In)>(m, alias);
  add<name, "Scalar", Tensor(In, Number)>(m, alias);
  add<in_place, "Tensor", Tensor&(Tensor&, In)>(m, alias + "_");
  add<in_place, "Scalar", Tensor&(Tensor&, Number)>(m, alias + "_");
  add<name, "out", Tensor&(In, In, Tensor&)>(m, alias);
}

// Python's `&` calls `__and__`, and `&=` calls `__iand__`.
template <Name name, Name in_place>
void addPythonOperator(Library& m, const std::string& alias) {
  add<name, "Tensor", Tensor(In, In)>(m, "__" + alias + "__");
  add<name, "Scalar", Tensor(In, Number)>(m, "__" + alias + "__");
  add<in_place, "Tensor", Tensor&(Tensor&, In)>(m, "__i" + alias + "__");
  add<in_place, "Scalar", Tensor&(Tensor&, Number)>(m, "__i" + alias + "__");
}

template <Name name, Name in_place>
void addComparison(Library& m, const std::string& alias) {
  add<name, "Tensor", Tensor(In, In)>(m, alias);
  add<name, "Scalar", Tensor(In, Number)>(m, alias);
  add<in_place, "Tensor", Tensor&(Tensor&, In)>(m, alias + "_");
  add<in_place, "Scalar", Tensor&(Tensor&, Number)>(m, alias + "_");
  add<name, "Tensor_out", Tensor&(In, In, Tensor&)>(m, alias);
  add<name, "Scalar_out", Tensor&(In, Number, Tensor&)>(m, alias);
}

}  // namespace

BOXCAR_LIBRARY_IMPL(aten, CompositeImplicitAutograd, m) {
  addUnary<"aten::abs", "aten::abs_">(m, "absolute");
  addUnary<"aten::neg", "aten::neg_">(m, "negative");
  addUnary<"aten::acos", "aten::acos_">(m, "arccos");
  addUnary<"aten::acosh", "aten::acosh_">(m, "arccosh");
  addUnary<"aten::asin", "aten::asin_">(m, "arcsin");
  addUnary<"aten::asinh", "aten::asinh_">(m, "arcsinh");
  addUnary<"aten::atan", "aten::atan_">(m, "arctan");
  addUnary<"aten::atanh", "aten::atanh_">(m, "arctanh");
  addUnary<"aten::trunc", "aten::trunc_">(m, "fix");

  addArithmetic<"aten::mul", "aten::mul_">(m, "multiply");
  addArithmetic<"aten::div", "aten::div_">(m, "divide");
  addArithmetic<"aten::div", "aten::div_">(m, "true_divide");
  add<"aten::div", "Tensor_mode", Tensor(In, In, Mode)>(m, "divide");
  add<"aten::div", "Scalar_mode", Tensor(In, Number, Mode)>(m, "divide");
  add<"aten::div_", "Tensor_mode", Tensor&(Tensor&, In, Mode)>(m, "divide_");
  add<"aten::div_", "Scalar_mode", Tensor&(Tensor&, Number, Mode)>(m, "divide_");
  add<"aten::div", "out_mode", Tensor&(In, In, Mode, Tensor&)>(m, "divide");
  add<"aten::sub", "Tensor", Tensor(In, In, Number)>(m, "subtract");
  add<"aten::sub", "Scalar", Tensor(In, Number, Number)>(m, "subtract");
  add<"aten::sub_", "Tensor", Tensor&(Tensor&, In, Number)>(m, "subtract_");
  add<"aten::sub_", "Scalar", Tensor&(Tensor&, Number, Number)>(m, "subtract_");
  add<"aten::sub", "out", Tensor&(In, In, Number, Tensor&)>(m, "subtract");
  add<"aten::atan2", "", Tensor(In, In)>(m, "arctan2");
  add<"aten::atan2_", "", Tensor&(Tensor&, In)>(m, "arctan2_");
  add<"aten::atan2", "out", Tensor&(In, In, Tensor&)>(m, "arctan2");

  addComparison<"aten::ne", "aten::ne_">(m, "not_equal");
  addComparison<"aten::gt", "aten::gt_">(m, "greater");
  addComparison<"aten::ge", "aten::ge_">(m, "greater_equal");
  addComparison<"aten::lt", "aten::lt_">(m, "less");
  addComparison<"aten::le", "aten::le_">(m, "less_equal");

  addPythonOperator<"aten::bitwise_and", "aten::bitwise_and_">(m, "and");
  addPythonOperator<"aten::bitwise_or", "aten::bitwise_or_">(m, "or");
  addPythonOperator<"aten::bitwise_xor", "aten::bitwise_xor_">(m, "xor");

  add<"aten::clamp", "", Tensor(In, OptionalNumber, OptionalNumber)>(m, "clip");
  add<"aten::clamp", "Tensor", Tensor(In, OptionalIn, OptionalIn)>(m, "clip");
  add<"aten::clamp_", "", Tensor&(Tensor&, OptionalNumber, OptionalNumber)>(m, "clip_");
  add<"aten::clamp_", "Tensor", Tensor&(Tensor&, OptionalIn, OptionalIn)>(m, "clip_");
  add<"aten::clamp", "out", Tensor&(In, OptionalNumber, OptionalNumber, Tensor&)>(m, "clip");
  add<"aten::clamp", "Tensor_out", Tensor&(In, OptionalIn, OptionalIn, Tensor&)>(m, "clip");

  addSpecial<"aten::expm1">(m, "special_expm1");
  addSpecial<"aten::exp2">(m, "special_exp2");
  addSpecial<"aten::digamma">(m, "special_psi");
  addSpecial<"aten::digamma">(m, "special_digamma");
  addSpecial<"aten::lgamma">(m, "special_gammaln");
  addSpecial<"aten::erf">(m, "special_erf");
  addSpecial<"aten::erfc">(m, "special_erfc");
  addSpecial<"aten::erfinv">(m, "special_erfinv");
  addSpecial<"aten::sigmoid">(m, "special_expit");
  addSpecial<"aten::sinc">(m, "special_sinc");
  addSpecial<"aten::log1p">(m, "special_log1p");
  addSpecial<"aten::i0">(m, "special_i0");
  add<"aten::logit", "", Tensor(In, std::optional<double>)>(m, "special_logit");
  add<"aten::logit", "out", Tensor&(In, std::optional<double>, Tensor&)>(m, "special_logit");
  add<"aten::round", "decimals", Tensor(In, int64_t)>(m, "special_round", "");
  add<"aten::round", "decimals_out", Tensor&(In, int64_t, Tensor&)>(m, "special_round", "out");
  add<"aten::polygamma", "", Tensor(int64_t, In)>(m, "special_polygamma");
  add<"aten::polygamma", "out", Tensor&(int64_t, In, Tensor&)>(m, "special_polygamma");
  add<"aten::mvlgamma", "", Tensor(In, int64_t)>(m, "special_multigammaln");
  add<"aten::mvlgamma", "out", Tensor&(In, int64_t, Tensor&)>(m, "special_multigammaln");
  add<"aten::igamma", "", Tensor(In, In)>(m, "special_gammainc");
  add<"aten::igamma", "out", Tensor&(In, In, Tensor&)>(m, "special_gammainc");
  add<"aten::igammac", "", Tensor(In, In)>(m, "special_gammaincc");
  add<"aten::igammac", "out", Tensor&(In, In, Tensor&)>(m, "special_gammaincc");
  add<"aten::xlogy", "Tensor", Tensor(In, In)>(m, "special_xlogy", "");
  add<"aten::xlogy", "Scalar_Self", Tensor(Number, In)>(m, "special_xlogy", "self_scalar");
  add<"aten::xlogy", "Scalar_Other", Tensor(In, Number)>(m, "special_xlogy", "other_scalar");
  add<"aten::xlogy", "OutTensor", Tensor&(In, In, Tensor&)>(m, "special_xlogy", "out");
  add<"aten::xlogy", "OutScalar_Self", Tensor&(Number, In, Tensor&)>(m, "special_xlogy", "self_scalar_out");
  add<"aten::xlogy", "OutScalar_Other", Tensor&(In, Number, Tensor&)>(m, "special_xlogy", "other_scalar_out");
  add<"aten::logsumexp", "", Tensor(In, std::span<const int64_t>, bool)>(m, "special_logsumexp");
  add<"aten::logsumexp", "out", Tensor&(In, std::span<const int64_t>, bool, Tensor&)>(m, "special_logsumexp");
  add<"aten::softmax", "int", Tensor(In, int64_t, std::optional<ScalarType>)>(m, "special_softmax", "");
  add<"aten::log_softmax", "int", Tensor(In, int64_t, std::optional<ScalarType>)>(m, "special_log_softmax", "");
}

}  // namespace boxcar::composite
