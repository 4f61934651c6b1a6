#pragma once

// IValue::to<T>() and the constructors from containers, for every C++ type that an operator may take or return.
// Included by <boxcar/ivalue/ivalue.h>.

#include <boxcar/ivalue/dict.h>
#include <boxcar/ivalue/ivalue_class.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace boxcar {
namespace detail {

// IValueTo<T>::convert(value) returns [value] as a T. Specialised per type; other types do not compile.
template <class T>
struct IValueTo {
  static_assert(sizeof(T) == 0,
                "this C++ type is not one that boxcar values convert to; see the type table in dispatcher/README.md");
};

template <class T>
concept EnumOverInt = std::same_as<T, ScalarType> || std::same_as<T, Layout> || std::same_as<T, MemoryFormat>;

template <>
struct IValueTo<IValue> {
  static IValue convert(const IValue& value) { return value; }
};
template <>
struct IValueTo<bool> {
  static bool convert(const IValue& value) { return value.toBool(); }
};
template <>
struct IValueTo<int64_t> {
  static int64_t convert(const IValue& value) { return value.toInt(); }
};
template <>
struct IValueTo<SymInt> {
  static SymInt convert(const IValue& value) { return SymInt(value.toInt()); }
};
template <EnumOverInt T>
struct IValueTo<T> {
  static T convert(const IValue& value) { return static_cast<T>(value.toInt()); }
};
template <>
struct IValueTo<double> {
  static double convert(const IValue& value) { return value.toDouble(); }
};
template <>
struct IValueTo<std::complex<double>> {
  static std::complex<double> convert(const IValue& value) { return value.toComplexDouble(); }
};
template <>
struct IValueTo<Scalar> {
  static Scalar convert(const IValue& value) { return value.toScalar(); }
};
template <>
struct IValueTo<Tensor> {
  static Tensor convert(const IValue& value) { return value.toTensor(); }
};
template <>
struct IValueTo<std::string> {
  static std::string convert(const IValue& value) { return value.toStringRef(); }
};
template <>
struct IValueTo<std::string_view> {
  static std::string_view convert(const IValue& value) { return value.toStringView(); }
};
template <>
struct IValueTo<Device> {
  static Device convert(const IValue& value) { return value.toDevice(); }
};
template <>
struct IValueTo<Stream> {
  static Stream convert(const IValue& value) { return value.toStream(); }
};
template <>
struct IValueTo<Storage> {
  static Storage convert(const IValue& value) { return value.toStorage(); }
};
template <>
struct IValueTo<Generator> {
  static Generator convert(const IValue& value) { return value.toGenerator(); }
};
template <>
struct IValueTo<Tuple> {
  static Tuple convert(const IValue& value) { return value.toTuple(); }
};
template <class T>
requires std::is_base_of_v<CustomClassHolder, T>
struct IValueTo<IntrusivePtr<T>> {
  static IntrusivePtr<T> convert(const IValue& value) {
    if constexpr (std::same_as<T, CustomClassHolder>) {
      return value.toObject();
    } else {
      T* object = dynamic_cast<T*>(value.toObject().get());
      BOXCAR_CHECK(object != nullptr, "expected an object of another class than {}", value.toObject()->className());
      return IntrusivePtr<T>::share(object);
    }
  }
};
template <>
struct IValueTo<IntrusivePtr<Future>> {
  static IntrusivePtr<Future> convert(const IValue& value) { return value.toFuture(); }
};
template <>
struct IValueTo<IntrusivePtr<EnumHolder>> {
  static IntrusivePtr<EnumHolder> convert(const IValue& value) { return value.toEnumHolder(); }
};
template <class T>
struct IValueTo<std::optional<T>> {
  static std::optional<T> convert(const IValue& value) {
    if (value.isNone()) return std::nullopt;
    return IValueTo<T>::convert(value);
  }
};
template <class T>
struct IValueTo<List<T>> {
  static List<T> convert(const IValue& value) {
    if constexpr (std::same_as<T, int64_t>) {
      return value.toIntList();
    } else if constexpr (std::same_as<T, double>) {
      return value.toDoubleList();
    } else if constexpr (std::same_as<T, bool>) {
      return value.toBoolList();
    } else if constexpr (std::same_as<T, std::complex<double>>) {
      return value.toComplexDoubleList();
    } else if constexpr (std::same_as<T, Tensor>) {
      return value.toTensorList();
    } else {
      return List<T>(value.toList().object());
    }
  }
};
template <class K, class V>
struct IValueTo<Dict<K, V>> {
  static Dict<K, V> convert(const IValue& value) { return Dict<K, V>(value.toGenericDict().object()); }
};
// A vector of a typed element comes from a list of that kind; any other vector comes from any list or tuple whose
// elements convert.
template <class T>
struct IValueTo<std::vector<T>> {
  static std::vector<T> convert(const IValue& value) {
    if constexpr (TypedListElement<T>) {
      return IValueTo<List<T>>::convert(value).vec();
    } else {
      BOXCAR_CHECK(value.isList() || value.isTuple(), "expected a list, found a value of kind {}", value.tagKind());
      std::vector<T> result;
      result.reserve(value.length());
      for (size_t i = 0; i < value.length(); ++i) result.push_back(IValueTo<T>::convert(value.elementAt(i)));
      return result;
    }
  }
};
template <class... Ts>
struct IValueTo<std::tuple<Ts...>> {
  static std::tuple<Ts...> convert(const IValue& value) {
    const Tuple tuple = value.toTuple();
    BOXCAR_CHECK(tuple.size() == sizeof...(Ts), "expected a tuple of {} values, found one of {}", sizeof...(Ts),
                 tuple.size());
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::tuple<Ts...>(IValueTo<Ts>::convert(tuple.elements()[I])...);
    }
    (std::index_sequence_for<Ts...>());
  }
};

}  // namespace detail

inline GenericDict IValue::toGenericDict() const& { return GenericDict(get<Tag::GenericDict>()); }
inline GenericDict IValue::toGenericDict() && { return GenericDict(take<Tag::GenericDict>()); }

template <class K, class V>
IValue::IValue(const Dict<K, V>& value) noexcept : payload_(value.object()) {}

template <class T>
T IValue::to() const {
  return detail::IValueTo<T>::convert(*this);
}

template <class T>
IValue::IValue(std::vector<T> value) : IValue() {
  if constexpr (std::same_as<T, bool>) {
    *this = List<bool>(makeIntrusive<BoolListObject>(BoolListObject::Vector(value.begin(), value.end())));
  } else if constexpr (detail::TypedListElement<T>) {
    *this = List<T>(makeIntrusive<ListObject<T>>(std::move(value)));
  } else if constexpr (std::same_as<T, SymInt>) {
    *this = IValue(std::vector<int64_t>(value.begin(), value.end()));
  } else if constexpr (detail::EnumOverInt<T>) {
    List<int64_t> numbers;
    numbers.reserve(value.size());
    for (const T number : value) numbers.push_back(static_cast<int64_t>(number));
    *this = numbers;
  } else {
    std::vector<IValue> elements;
    elements.reserve(value.size());
    for (T& element : value) elements.emplace_back(std::move(element));
    *this = GenericList(makeIntrusive<GenericListObject>(std::move(elements)));
  }
}

template <class... Ts>
IValue::IValue(std::tuple<Ts...> value) : IValue() {
  std::vector<IValue> elements;
  elements.reserve(sizeof...(Ts));
  std::apply([&](Ts&... items) { (elements.emplace_back(std::move(items)), ...); }, value);
  *this = boxcar::Tuple(std::move(elements));
}

}  // namespace boxcar
