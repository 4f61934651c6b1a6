#pragma once

#include <boxcar/ivalue/array_ref.h>
#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/ivalue.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace boxcar::detail {

// BorrowedArgument<Arg> reads one argument of a boxed call for an unboxed kernel that takes an [Arg], const and
// reference included. `matches` returns, without throwing, whether a value has the right kind. An object made from a
// value that matches lives as long as the kernel runs; `get()` returns the argument. Borrows where possible: `const
// Tensor&` binds to the tensor on the stack, and a span to the list's own elements.
template <class Arg>
struct BorrowedArgument;

using Tag = IValue::Tag;

// A kind that the IValue stores as the C++ type itself.
template <class T, Tag tag>
struct BorrowedInPlace {
  static bool matches(const IValue& value) { return value.tag() == tag; }
  static void destroy(IValue& value) { value.unsafeGet<tag>().~T(); }
  explicit BorrowedInPlace(IValue& value) : value_(value) {}
  auto& get() { return value_.unsafeGet<tag>(); }

 private:
  IValue& value_;
};

// A kind that `to` must convert from the IValue.
template <class T>
struct ConvertedArgument {
  static void destroy(IValue& value) { value.~IValue(); }
  explicit ConvertedArgument(IValue& value) : value_(value.to<T>()) {}
  T&& get() { return std::move(value_); }

 private:
  T value_;
};

template <class T>
struct BorrowedValue;

template <>
struct BorrowedValue<Tensor> : BorrowedInPlace<Tensor, Tag::Tensor> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<int64_t> : BorrowedInPlace<int64_t, Tag::Int> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<double> : BorrowedInPlace<double, Tag::Double> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<bool> : BorrowedInPlace<bool, Tag::Bool> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<Device> : BorrowedInPlace<Device, Tag::Device> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<Stream> : BorrowedInPlace<Stream, Tag::Stream> {
  using BorrowedInPlace::BorrowedInPlace;
};
template <>
struct BorrowedValue<Storage> : BorrowedInPlace<Storage, Tag::Storage> {
  using BorrowedInPlace::BorrowedInPlace;
};

// An int that has its own type in C++. An enumeration value must be in range, because kernels index tables by it.
template <class T>
inline constexpr bool kIsInt = EnumOverInt<T> || std::same_as<T, SymInt>;

template <class T>
requires kIsInt<T>
struct BorrowedValue<T> {
  static bool matches(const IValue& value) {
    if (!value.isInt()) return false;
    if constexpr (std::same_as<T, SymInt>) {
      return true;
    } else {
      return static_cast<uint64_t>(value.unsafeGet<Tag::Int>()) < static_cast<uint64_t>(T::NumOptions);
    }
  }
  static void destroy(IValue&) {}
  explicit BorrowedValue(IValue& value) : value_(static_cast<T>(value.unsafeGet<Tag::Int>())) {}
  T& get() { return value_; }

 private:
  T value_;
};

template <>
struct BorrowedValue<IValue> {
  static bool matches(const IValue&) { return true; }
  static void destroy(IValue& value) { value.~IValue(); }
  explicit BorrowedValue(IValue& value) : value_(value) {}
  IValue& get() { return value_; }

 private:
  IValue& value_;
};

template <>
struct BorrowedValue<std::complex<double>> : ConvertedArgument<std::complex<double>> {
  static bool matches(const IValue& value) { return value.isComplexDouble(); }
  using ConvertedArgument::ConvertedArgument;
};
template <>
struct BorrowedValue<Scalar> : ConvertedArgument<Scalar> {
  static bool matches(const IValue& value) { return value.isScalar(); }
  using ConvertedArgument::ConvertedArgument;
};
template <>
struct BorrowedValue<Generator> : ConvertedArgument<Generator> {
  static bool matches(const IValue& value) { return value.isGenerator(); }
  using ConvertedArgument::ConvertedArgument;
};
template <>
struct BorrowedValue<std::string_view> {
  static bool matches(const IValue& value) { return value.isString(); }
  static void destroy(IValue& value) { value.~IValue(); }
  explicit BorrowedValue(IValue& value) : value_(value.toStringRef()) {}
  std::string_view get() { return value_; }

 private:
  std::string_view value_;
};
template <>
struct BorrowedValue<std::string> {
  static bool matches(const IValue& value) { return value.isString(); }
  static void destroy(IValue& value) { value.~IValue(); }
  explicit BorrowedValue(IValue& value) : value_(value.toStringRef()) {}
  const std::string& get() { return value_; }

 private:
  const std::string& value_;
};

template <class T>
requires std::is_base_of_v<CustomClassHolder, T>
struct BorrowedValue<IntrusivePtr<T>> : ConvertedArgument<IntrusivePtr<T>> {
  static bool matches(const IValue& value) {
    return value.isObject() && dynamic_cast<T*>(value.toObject().get()) != nullptr;
  }
  using ConvertedArgument<IntrusivePtr<T>>::ConvertedArgument;
};

template <class T>
inline constexpr Tag kListTag = std::same_as<T, int64_t> || kIsInt<T>   ? Tag::IntList
                                : std::same_as<T, double>               ? Tag::DoubleList
                                : std::same_as<T, bool>                 ? Tag::BoolList
                                : std::same_as<T, std::complex<double>> ? Tag::ComplexDoubleList
                                : std::same_as<T, Tensor>               ? Tag::TensorList
                                                                        : Tag::GenericList;

// A list without typed storage matches if each of its elements matches.
template <class T>
bool matchesList(const IValue& value) {
  if (value.tag() != kListTag<T>) return false;
  if constexpr (kListTag<T> == Tag::GenericList && !std::same_as<T, IValue>) {
    for (const IValue& element : value.unsafeGet<Tag::GenericList>()->values) {
      if (!BorrowedArgument<T>::matches(element)) return false;
    }
  }
  return true;
}

template <class T>
struct BorrowedValue<List<T>> : ConvertedArgument<List<T>> {
  static_assert(!kIsInt<T>, "an int[] holds int64_t: take std::span<const SymInt> or const List<int64_t>&");
  static bool matches(const IValue& value) { return matchesList<T>(value); }
  using ConvertedArgument<List<T>>::ConvertedArgument;
};

template <class T>
struct BorrowedValue<std::span<const T>> {
  static_assert(TypedListElement<T> || std::same_as<T, IValue> || std::same_as<T, SymInt>,
                "a std::span argument has elements of int64_t, SymInt, double, bool, std::complex<double>, Tensor or "
                "IValue; take const List<T>& for other lists");
  using Element = std::conditional_t<std::same_as<T, SymInt>, int64_t, T>;
  static bool matches(const IValue& value) { return matchesList<T>(value); }
  static void destroy(IValue& value) { value.~IValue(); }
  explicit BorrowedValue(IValue& value) {
    const auto& elements = value.unsafeGet<kListTag<Element>>()->values;
    value_ = {reinterpret_cast<const T*>(elements.data()), elements.size()};
  }
  std::span<const T> get() { return value_; }

 private:
  std::span<const T> value_;
};

template <class T>
struct BorrowedValue<ArrayRef<T>> : BorrowedValue<std::span<const T>> {
  using BorrowedValue<std::span<const T>>::BorrowedValue;
  ArrayRef<T> get() { return BorrowedValue<std::span<const T>>::get(); }
};

template <class T>
struct BorrowedValue<std::vector<T>> : ConvertedArgument<std::vector<T>> {
  static bool matches(const IValue& value) { return matchesList<T>(value); }
  using ConvertedArgument<std::vector<T>>::ConvertedArgument;
};

template <class K, class V>
struct BorrowedValue<Dict<K, V>> : ConvertedArgument<Dict<K, V>> {
  static bool matches(const IValue& value) {
    if (!value.isGenericDict()) return false;
    const DictObject& dict = *value.unsafeGet<Tag::GenericDict>();
    for (size_t i = 0; i < dict.size(); ++i) {
      if (!BorrowedArgument<K>::matches(dict.keyAt(i)) || !BorrowedArgument<V>::matches(dict.valueAt(i))) return false;
    }
    return true;
  }
  using ConvertedArgument<Dict<K, V>>::ConvertedArgument;
};

template <class... Ts>
struct BorrowedValue<std::tuple<Ts...>> : ConvertedArgument<std::tuple<Ts...>> {
  static bool matches(const IValue& value) {
    if (!value.isTuple() || value.length() != sizeof...(Ts)) return false;
    const std::vector<IValue>& elements = value.unsafeGet<Tag::Tuple>()->elements();
    size_t i = 0;
    return (BorrowedArgument<Ts>::matches(elements[i++]) && ...);
  }
  using ConvertedArgument<std::tuple<Ts...>>::ConvertedArgument;
};

template <>
struct BorrowedValue<Tuple> : ConvertedArgument<Tuple> {
  static bool matches(const IValue& value) { return value.isTuple(); }
  using ConvertedArgument::ConvertedArgument;
};

template <class T>
struct BorrowedValue<std::optional<T>> {
  static bool matches(const IValue& value) { return value.isNone() || BorrowedArgument<T>::matches(value); }
  static void destroy(IValue& value) { value.~IValue(); }
  explicit BorrowedValue(IValue& value) {
    if (!value.isNone()) value_.emplace(BorrowedArgument<T>(value).get());
  }
  std::optional<T>& get() { return value_; }

 private:
  std::optional<T> value_;
};

template <class Arg>
struct BorrowedArgument : BorrowedValue<std::remove_cvref_t<Arg>> {
  static_assert(!std::is_rvalue_reference_v<Arg>, "a kernel takes its arguments by value, by const& or, Tensors, by &");
  static_assert(!std::is_lvalue_reference_v<Arg> || std::is_const_v<std::remove_reference_t<Arg>> ||
                    std::same_as<Arg, Tensor&>,
                "a kernel can take a Tensor& that it writes to; every other reference must be const");
  using BorrowedValue<std::remove_cvref_t<Arg>>::BorrowedValue;
};

}  // namespace boxcar::detail
