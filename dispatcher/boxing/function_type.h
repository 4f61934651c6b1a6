#pragma once

#include <type_traits>

namespace boxcar::detail {

// The function type of a function, function pointer, functor or lambda.
template <class F>
struct FunctionTypeOf : FunctionTypeOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct FunctionTypeOf<R(Args...)> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R (*)(Args...)> : std::type_identity<R(Args...)> {};
template <class R, class... Args>
struct FunctionTypeOf<R (*)(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...)> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) const> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) noexcept> : std::type_identity<R(Args...)> {};
template <class C, class R, class... Args>
struct FunctionTypeOf<R (C::*)(Args...) const noexcept> : std::type_identity<R(Args...)> {};

template <class F>
using FunctionType = typename FunctionTypeOf<F>::type;

}  // namespace boxcar::detail
