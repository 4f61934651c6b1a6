#pragma once

#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/schema/function_object.h>
#include <boxcar/schema/type.h>

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace boxcar {
namespace detail {

template <class T>
inline constexpr bool kAlwaysFalse = false;

// SchemaTypeOf<T>::get() returns the schema type of a C++ type without const and &. Types that operators cannot take
// have no get().
template <class T>
struct SchemaTypeOf {};

template <TypePtr (*type)() noexcept>
struct SchemaTypeIs {
  static TypePtr get() { return type(); }
};

// clang-format off
template <> struct SchemaTypeOf<Tensor> : SchemaTypeIs<&Type::tensor> {};
template <> struct SchemaTypeOf<std::int64_t> : SchemaTypeIs<&Type::integer> {};
template <> struct SchemaTypeOf<SymInt> : SchemaTypeIs<&Type::symInt> {};
template <> struct SchemaTypeOf<double> : SchemaTypeIs<&Type::floating> {};
template <> struct SchemaTypeOf<bool> : SchemaTypeIs<&Type::boolean> {};
template <> struct SchemaTypeOf<std::complex<double>> : SchemaTypeIs<&Type::complex> {};
template <> struct SchemaTypeOf<Scalar> : SchemaTypeIs<&Type::scalar> {};
template <> struct SchemaTypeOf<std::string_view> : SchemaTypeIs<&Type::string> {};
template <> struct SchemaTypeOf<std::string> : SchemaTypeIs<&Type::string> {};
template <> struct SchemaTypeOf<ScalarType> : SchemaTypeIs<&Type::scalarType> {};
template <> struct SchemaTypeOf<Layout> : SchemaTypeIs<&Type::layout> {};
template <> struct SchemaTypeOf<MemoryFormat> : SchemaTypeIs<&Type::memoryFormat> {};
template <> struct SchemaTypeOf<Device> : SchemaTypeIs<&Type::device> {};
template <> struct SchemaTypeOf<Generator> : SchemaTypeIs<&Type::generator> {};
template <> struct SchemaTypeOf<Stream> : SchemaTypeIs<&Type::stream> {};
template <> struct SchemaTypeOf<Storage> : SchemaTypeIs<&Type::storage> {};
template <> struct SchemaTypeOf<IValue> : SchemaTypeIs<&Type::any> {};
template <> struct SchemaTypeOf<Tuple> : SchemaTypeIs<&Type::any> {};
// clang-format on

template <>
struct SchemaTypeOf<FunctionPtr> : SchemaTypeIs<&Type::function> {};
template <class T>
requires std::is_base_of_v<CustomClassHolder, T>
struct SchemaTypeOf<IntrusivePtr<T>> {
  static TypePtr get() { return Type::of(TypeKind::AnyClass); }
};
template <class T>
struct SchemaTypeOf<std::optional<T>> {
  static TypePtr get() { return Type::optionalOf(SchemaTypeOf<T>::get()); }
};
template <class T>
struct ListTypeOf {
  static TypePtr get() { return Type::listOf(SchemaTypeOf<T>::get()); }
};
template <class T>
struct SchemaTypeOf<std::span<const T>> : ListTypeOf<T> {};
template <class T>
struct SchemaTypeOf<ArrayRef<T>> : ListTypeOf<T> {};
template <class T>
struct SchemaTypeOf<std::vector<T>> : ListTypeOf<T> {};
template <class T>
struct SchemaTypeOf<List<T>> : ListTypeOf<T> {};
template <class K, class V>
struct SchemaTypeOf<Dict<K, V>> {
  static TypePtr get() { return Type::dictOf(SchemaTypeOf<K>::get(), SchemaTypeOf<V>::get()); }
};
template <class... Ts>
struct SchemaTypeOf<std::tuple<Ts...>> {
  static TypePtr get() {
    const std::array<TypePtr, sizeof...(Ts)> types{SchemaTypeOf<std::remove_cvref_t<Ts>>::get()...};
    return Type::tupleOf(types);
  }
};

// Whether operators can take or return [T], given without const and &.
template <class T>
inline constexpr bool kIsOperatorType = requires {
  SchemaTypeOf<T>::get();
};
template <class T>
inline constexpr bool kIsOperatorType<std::optional<T>> = kIsOperatorType<T>;
template <class T>
inline constexpr bool kIsOperatorType<std::span<const T>> = kIsOperatorType<T>;
template <class T>
inline constexpr bool kIsOperatorType<ArrayRef<T>> = kIsOperatorType<T>;
template <class T>
inline constexpr bool kIsOperatorType<std::vector<T>> = kIsOperatorType<T>;
template <class T>
inline constexpr bool kIsOperatorType<List<T>> = kIsOperatorType<T>;
template <class K, class V>
// NOLINTNEXTLINE(misc-redundant-expression): K and V may be one type
inline constexpr bool kIsOperatorType<Dict<K, V>> = kIsOperatorType<K>&& kIsOperatorType<V>;
template <class... Ts>
// NOLINTNEXTLINE(misc-redundant-expression): elements may be of one type
inline constexpr bool kIsOperatorType<std::tuple<Ts...>> = (kIsOperatorType<std::remove_cvref_t<Ts>> && ...);

// Whether [T] refers to memory that it does not own: arguments may, results may not.
template <class T>
inline constexpr bool kIsBorrowed = false;
template <>
inline constexpr bool kIsBorrowed<std::string_view> = true;
template <class T>
inline constexpr bool kIsBorrowed<std::span<const T>> = true;
template <class T>
inline constexpr bool kIsBorrowed<ArrayRef<T>> = true;
template <class T>
inline constexpr bool kIsBorrowed<std::optional<T>> = kIsBorrowed<T>;
template <class... Ts>  // NOLINTNEXTLINE(misc-redundant-expression): elements may be of one type
inline constexpr bool kIsBorrowed<std::tuple<Ts...>> = (kIsBorrowed<std::remove_cvref_t<Ts>> || ...);

// Whether operators can take [T], with its const and &.
template <class T>
inline constexpr bool kIsOperatorArgument =
    kIsOperatorType<std::remove_cvref_t<T>> && !std::is_rvalue_reference_v<T> &&
    (!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>> || std::is_same_v<T, Tensor&>);

// Whether a C++ function can be a kernel: a leading DispatchKeySet does not count as an argument.
template <class Function>
inline constexpr bool kIsOperatorFunction = false;
template <class R, class... Args>
// NOLINTNEXTLINE(misc-redundant-expression): arguments may be of one type
inline constexpr bool kIsOperatorFunction<R(Args...)> = (kIsOperatorArgument<Args> && ... &&
                                                         (std::is_void_v<R> || (kIsOperatorArgument<R> &&
                                                                                !kIsBorrowed<std::remove_cvref_t<R>>)));
template <class R, class... Args>
inline constexpr bool kIsOperatorFunction<R(DispatchKeySet, Args...)> = kIsOperatorFunction<R(Args...)>;

}  // namespace detail

// Returns the schema type of what a C++ function takes or returns as [T]: Tensor? for const std::optional<Tensor>&.
// Types that operators cannot take or return do not compile.
template <class T>
TypePtr schemaTypeOf() {
  static_assert(!std::is_rvalue_reference_v<T> && !std::is_pointer_v<T>,
                "operators take and return values, const references and Tensor&; not pointers or rvalue references");
  static_assert(
      !std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>> || std::is_same_v<T, Tensor&>,
      "the only reference through which an operator writes is Tensor&; every other reference is const");
  static_assert(
      detail::kIsOperatorType<std::remove_cvref_t<T>>,
      "operators cannot take or return this C++ type: use Tensor, int64_t, double, bool, std::complex<double>, "
      "Scalar, std::string_view (std::string in results), Device, ScalarType, Layout, MemoryFormat, Generator, "
      "Stream, Storage, FunctionPtr, IValue, or a std::optional, std::span, std::vector, List, Dict or std::tuple of "
      "them");
  return detail::SchemaTypeOf<std::remove_cvref_t<T>>::get();
}

}  // namespace boxcar
