#pragma once

#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/sym_int.h>

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar::detail {

// SymInt and int64_t are one type to the dispatcher: a kernel may be written, and called, with either, and a SymInt may
// come by reference. Between caller and kernel the argument travels as its canonical type. An ArrayRef is a span.
template <class T>
struct CanonicalTypeOf {
  using type = T;
};
template <>
struct CanonicalTypeOf<SymInt> {
  using type = int64_t;
};
template <>
struct CanonicalTypeOf<std::optional<SymInt>> {
  using type = std::optional<int64_t>;
};
template <>
struct CanonicalTypeOf<std::span<const SymInt>> {
  using type = std::span<const int64_t>;
};
template <>
struct CanonicalTypeOf<std::optional<std::span<const SymInt>>> {
  using type = std::optional<std::span<const int64_t>>;
};
template <class T>
struct CanonicalTypeOf<ArrayRef<T>> : CanonicalTypeOf<std::span<const T>> {};
template <class T>
struct CanonicalTypeOf<std::optional<ArrayRef<T>>> : CanonicalTypeOf<std::optional<std::span<const T>>> {};
template <>
struct CanonicalTypeOf<std::vector<SymInt>> {
  using type = std::vector<int64_t>;
};
template <>
struct CanonicalTypeOf<std::optional<std::vector<SymInt>>> {
  using type = std::optional<std::vector<int64_t>>;
};
// Several results.
template <class... Ts>
struct CanonicalTypeOf<std::tuple<Ts...>> {
  using type = std::tuple<typename CanonicalTypeOf<Ts>::type...>;
};

template <class T>
using CanonicalType = typename CanonicalTypeOf<T>::type;

// A reference stays a reference only if the canonical type is the type itself; otherwise there is no object to refer
// to.
template <class T>
requires(!std::is_same_v<CanonicalType<T>, T>) struct CanonicalTypeOf<const T&> : CanonicalTypeOf<T> {
};

template <class T>
inline constexpr bool kIsTuple = false;
template <class... Ts>
inline constexpr bool kIsTuple<std::tuple<Ts...>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// Reinterprets a span of one as a span of the other: a SymInt is one int64_t and nothing else.
template <class To, class From>
std::span<const To> recastSpan(std::span<const From> span) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return {reinterpret_cast<const To*>(span.data()), span.size()};
}

// Converts [value], a From, to a To that has the same canonical type. If the two types differ, the result is a value
// even if To is a reference: it lives until the call that takes it is over.
template <class To, class From>
using Recast =
    std::conditional_t<std::is_same_v<std::remove_cvref_t<To>, std::remove_cvref_t<From>>, To, std::remove_cvref_t<To>>;
template <class ToType, class From>
Recast<ToType, From> recast(From&& value) {
  using To = Recast<ToType, From>;
  if constexpr (std::is_same_v<std::remove_cvref_t<To>, std::remove_cvref_t<From>>) {
    return static_cast<To>(std::forward<From>(value));
  } else if constexpr (kIsTuple<To>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      // NOLINTNEXTLINE(bugprone-use-after-move): each takes an element of its own
      return To(recast<std::tuple_element_t<I, To>>(std::get<I>(std::forward<From>(value)))...);
    }
    (std::make_index_sequence<std::tuple_size_v<To>>());
  } else if constexpr (kIsVector<To>) {
    return To(value.begin(), value.end());
  } else if constexpr (requires { value.data(); }) {
    return recastSpan<typename To::value_type>(value);
  } else if constexpr (requires { value.has_value(); }) {
    if (!value.has_value()) return std::nullopt;
    return To(recast<typename To::value_type>(*value));
  } else {
    return To(value);
  }
}

// R(Args…) of a function type, without a leading DispatchKeySet, with every type canonical.
template <class Function>
struct CanonicalFunctionOf;
template <class R, class... Args>
struct CanonicalFunctionOf<R(Args...)> {
  using type = CanonicalType<R>(CanonicalType<Args>...);
};
template <class R, class... Args>
struct CanonicalFunctionOf<R(DispatchKeySet, Args...)> {
  using type = CanonicalType<R>(CanonicalType<Args>...);
};

template <class Function>
using CanonicalFunction = typename CanonicalFunctionOf<Function>::type;

}  // namespace boxcar::detail
