#pragma once

#include <boxcar/ivalue/half.h>
#include <boxcar/ivalue/macros.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace boxcar {

// The type of an element. The numbers are c10's, which files and schemas rely on; c10's quantised types are left out.
// ComplexHalf has a number and promotes, but no kernel and no text form: tensors cannot have it.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  BFloat16 = 15,
  Undefined = 16,
  NumOptions = 17,
};

inline constexpr ScalarType kByte = ScalarType::Byte;
inline constexpr ScalarType kChar = ScalarType::Char;
inline constexpr ScalarType kShort = ScalarType::Short;
inline constexpr ScalarType kInt = ScalarType::Int;
inline constexpr ScalarType kLong = ScalarType::Long;
inline constexpr ScalarType kHalf = ScalarType::Half;
inline constexpr ScalarType kFloat = ScalarType::Float;
inline constexpr ScalarType kDouble = ScalarType::Double;
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

// Returns the enumerator's name, "Float".
BOXCAR_API std::string_view toString(ScalarType type);
// Returns the name in programs and printed tensors, "float32".
BOXCAR_API std::string_view dtypeName(ScalarType type);
// Parses "float32", "float", "long", "torch.float32" …; returns nullopt for an unknown name.
BOXCAR_API std::optional<ScalarType> parseDtype(std::string_view name);

constexpr bool isComplexType(ScalarType type) {
  return type == ScalarType::ComplexHalf || type == ScalarType::ComplexFloat || type == ScalarType::ComplexDouble;
}
constexpr bool isFloatingType(ScalarType type) {
  return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double ||
         type == ScalarType::BFloat16;
}
constexpr bool isIntegralType(ScalarType type, bool includeBool) {
  return (type >= ScalarType::Byte && type <= ScalarType::Long) || (includeBool && type == ScalarType::Bool);
}
constexpr bool isSignedType(ScalarType type) { return type != ScalarType::Byte && type != ScalarType::Bool; }

// Returns the bytes of one element; 0 for Undefined.
constexpr size_t elementSize(ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool: return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16: return 2;
    case ScalarType::Int:
    case ScalarType::Float:
    case ScalarType::ComplexHalf: return 4;
    case ScalarType::Long:
    case ScalarType::Double:
    case ScalarType::ComplexFloat: return 8;
    case ScalarType::ComplexDouble: return 16;
    default: return 0;
  }
}

// Returns the type of the real part; a type that is not complex stays as it is.
constexpr ScalarType toRealValueType(ScalarType type) {
  switch (type) {
    case ScalarType::ComplexHalf: return ScalarType::Half;
    case ScalarType::ComplexFloat: return ScalarType::Float;
    case ScalarType::ComplexDouble: return ScalarType::Double;
    default: return type;
  }
}

// Returns the complex type whose parts hold [type]: ComplexFloat also for BFloat16, integers and bool.
constexpr ScalarType toComplexType(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return ScalarType::ComplexHalf;
    case ScalarType::Double: return ScalarType::ComplexDouble;
    case ScalarType::Undefined: return ScalarType::Undefined;
    default: return isComplexType(type) ? type : ScalarType::ComplexFloat;
  }
}

// Returns the type in which an operator computes on operands of types [a] and [b]; Undefined if either is Undefined.
BOXCAR_API ScalarType promoteTypes(ScalarType a, ScalarType b);

// Returns true if a result of type [from] may be stored in a tensor of type [to]: never complex to real, floating to
// integral, or anything but bool to bool.
constexpr bool canCast(ScalarType from, ScalarType to) {
  if (isComplexType(from) && !isComplexType(to)) return false;
  if (isFloatingType(from) && isIntegralType(to, /*includeBool=*/true)) return false;
  return from == ScalarType::Bool || to != ScalarType::Bool;
}

// The ScalarType of an element's C++ type, as `value`.
template <class T>
struct CppTypeToScalarType;

// The C++ type of an element, as `type`.
template <ScalarType Type>
struct ScalarTypeToCppType;

#define BOXCAR_SCALAR_TYPE(cpp_type, scalar_type)                                                        \
  template <>                                                                                            \
  struct CppTypeToScalarType<cpp_type> : std::integral_constant<ScalarType, ScalarType::scalar_type> {}; \
  template <>                                                                                            \
  struct ScalarTypeToCppType<ScalarType::scalar_type> : std::type_identity<cpp_type> {};
BOXCAR_SCALAR_TYPE(bool, Bool)
BOXCAR_SCALAR_TYPE(uint8_t, Byte)
BOXCAR_SCALAR_TYPE(int8_t, Char)
BOXCAR_SCALAR_TYPE(int16_t, Short)
BOXCAR_SCALAR_TYPE(int32_t, Int)
BOXCAR_SCALAR_TYPE(int64_t, Long)
BOXCAR_SCALAR_TYPE(Half, Half)
BOXCAR_SCALAR_TYPE(BFloat16, BFloat16)
BOXCAR_SCALAR_TYPE(float, Float)
BOXCAR_SCALAR_TYPE(double, Double)
BOXCAR_SCALAR_TYPE(std::complex<float>, ComplexFloat)
BOXCAR_SCALAR_TYPE(std::complex<double>, ComplexDouble)
#undef BOXCAR_SCALAR_TYPE

template <class T>
inline constexpr ScalarType scalarTypeOf = CppTypeToScalarType<T>::value;

template <ScalarType Type>
using CppTypeOf = typename ScalarTypeToCppType<Type>::type;

// A set of element types that a kernel is written for.
template <class... Ts>
struct ElementTypes {};

template <class... Ts, class... Us>
constexpr ElementTypes<Ts..., Us...> operator+(ElementTypes<Ts...>, ElementTypes<Us...>) {
  return {};
}

inline constexpr ElementTypes<bool> kBoolType;
inline constexpr ElementTypes<uint8_t, int8_t, int16_t, int32_t, int64_t> kIntegralTypes;
inline constexpr ElementTypes<Half, BFloat16, float, double> kFloatingTypes;
inline constexpr ElementTypes<float, double> kFullFloatTypes;  // without those that are computed in float32
inline constexpr ElementTypes<std::complex<float>, std::complex<double>> kComplexTypes;
inline constexpr auto kRealTypes = kIntegralTypes + kFloatingTypes;
inline constexpr auto kNumberTypes = kRealTypes + kComplexTypes;
inline constexpr auto kRealAndBoolTypes = kBoolType + kRealTypes;
inline constexpr auto kAllTypes = kRealAndBoolTypes + kComplexTypes;

namespace detail {

[[noreturn]] BOXCAR_API void failUnsupportedScalarType(std::string_view op, ScalarType type,
                                                       std::span<const ScalarType> supported);

template <class T, class... Ts, class Body>
decltype(auto) visitScalarType(ElementTypes<T, Ts...>, ScalarType type, std::string_view op,
                               std::span<const ScalarType> supported, Body& body) {
  if (type != scalarTypeOf<T>) {
    if constexpr (sizeof...(Ts) > 0) {
      return visitScalarType(ElementTypes<Ts...>{}, type, op, supported, body);
    } else {
      failUnsupportedScalarType(op, type, supported);
    }
  }
  return body(std::type_identity<T>{});
}

}  // namespace detail

// Calls [body] with the std::type_identity of [type]'s C++ type and returns its result:
//
//   visitScalarType(kFloatingTypes, tensor.scalar_type(), "exp", [&](auto tag) {
//     using T = typename decltype(tag)::type;
//     ...
//   });
//
// Throws an Error that names [op], the type and the supported types when [type] is not among them.
template <class... Ts, class Body>
decltype(auto) visitScalarType(ElementTypes<Ts...> types, ScalarType type, std::string_view op, Body&& body) {
  static constexpr ScalarType supported[] = {scalarTypeOf<Ts>...};
  return detail::visitScalarType(types, type, op, supported, body);
}

}  // namespace boxcar
