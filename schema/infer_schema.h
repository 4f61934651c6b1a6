#pragma once

#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/cpp_type.h>
#include <boxcar/schema/function_schema.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace boxcar {
namespace detail {

// Returns the schema type of a C++ type. Compile-time tables of these functions describe what a function takes and
// returns; the types themselves are made on demand.
using TypeFunction = TypePtr (*)();
using TypeFunctions = std::span<const TypeFunction>;

// Returns a schema from types alone: the arguments are called _0, _1 …, the results have no names.
BOXCAR_API FunctionSchema schemaOfTypes(OperatorName name, TypeFunctions arguments, TypeFunctions returns);

template <class... Ts>
BOXCAR_HIDDEN inline constexpr std::array<TypeFunction, sizeof...(Ts)> kTypeFunctions{&schemaTypeOf<Ts>...};

template <class R>
struct ReturnTypes {
  static constexpr TypeFunctions kAll = kTypeFunctions<R>;
};
template <>
struct ReturnTypes<void> {
  static constexpr TypeFunctions kAll = {};
};
template <class... Rs>
struct ReturnTypes<std::tuple<Rs...>> {
  static constexpr TypeFunctions kAll = kTypeFunctions<Rs...>;
};

template <class Function>
struct SignatureTypes {
  static_assert(kAlwaysFalse<Function>, "a schema is inferred from a function type, Tensor(const Tensor&, int64_t)");
};
template <class R, class... Args>
struct SignatureTypes<R(Args...)> {
  static_assert(
      !kIsBorrowed<std::remove_cvref_t<R>>,
      "an operator returns what it owns: std::string and std::vector instead of std::string_view and std::span");
  static constexpr TypeFunctions kArguments = kTypeFunctions<Args...>;
  static constexpr TypeFunctions kReturns = ReturnTypes<R>::kAll;
};
template <class R, class... Args>
struct SignatureTypes<R(DispatchKeySet, Args...)> : SignatureTypes<R(Args...)> {};
template <class R, class... Args>
struct SignatureTypes<R(Args...) noexcept> : SignatureTypes<R(Args...)> {};
template <class Function>
struct SignatureTypes<Function*> : SignatureTypes<Function> {};

}  // namespace detail

// Returns the schema that a C++ function type implies. Arguments are called _0, _1 …; a leading DispatchKeySet is not
// an argument; a tuple is several results, void and std::tuple<> are none. A C++ type that operators cannot take does
// not compile.
//   inferSchema<Tensor(const Tensor&, int64_t)>({"my::op", ""})  // my::op(Tensor _0, int _1) -> Tensor
template <class Function>
FunctionSchema inferSchema(OperatorName name = {"inferred", ""}) {
  return detail::schemaOfTypes(std::move(name), detail::SignatureTypes<Function>::kArguments,
                               detail::SignatureTypes<Function>::kReturns);
}

// Returns why a C++ function whose schema is [inferred] cannot be a kernel of an operator with the schema [given]: the
// first difference, in a sentence; nothing if it can. Types that are the same in C++ do not differ, such as SymInt and
// int; an IValue takes and returns everything. Names, defaults and aliases do not count.
BOXCAR_API std::optional<std::string> findSchemaDifferences(const FunctionSchema& given,
                                                            const FunctionSchema& inferred);

}  // namespace boxcar
