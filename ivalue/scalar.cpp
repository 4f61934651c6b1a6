#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/python_text.h>
#include <boxcar/ivalue/scalar.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

namespace boxcar {

namespace {

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

template <class T>
constexpr std::string_view typeName() {
  if constexpr (std::is_same_v<T, uint8_t>) return "uint8_t";
  if constexpr (std::is_same_v<T, int8_t>) return "int8_t";
  if constexpr (std::is_same_v<T, int16_t>) return "int16_t";
  if constexpr (std::is_same_v<T, int32_t>) return "int";
  if constexpr (std::is_same_v<T, int64_t>) return "int64_t";
  if constexpr (std::is_same_v<T, Half>) return "Half";
  if constexpr (std::is_same_v<T, BFloat16>) return "BFloat16";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, std::complex<float>>) return "complex<float>";
  if constexpr (std::is_same_v<T, std::complex<double>>) return "complex<double>";
}

template <class T>
bool fits(int64_t value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return value >= -255 && value <= 255;
  } else if constexpr (std::is_integral_v<T>) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  } else if constexpr (std::is_same_v<T, Half>) {
    return std::abs(static_cast<double>(value)) <= std::numeric_limits<Half>::max();
  } else {
    return true;
  }
}

template <class T>
bool fits(double value) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return value >= -0x1p63 && value < 0x1p63;
  } else if constexpr (std::is_integral_v<T>) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  } else {
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(std::numeric_limits<T>::max());
  }
}

template <class To, class From>
To checkedConvert(From value) {
  BOXCAR_CHECK(fits<To>(value), "value cannot be converted to type {} without overflow", typeName<To>());
  return static_cast<To>(value);
}

template <class To>
To checkedConvert(std::complex<double> value) {
  if constexpr (is_complex<To>) {
    using Part = typename To::value_type;
    const bool both_fit = fits<Part>(value.real()) && fits<Part>(value.imag());
    BOXCAR_CHECK(both_fit, "value cannot be converted to type {} without overflow", typeName<To>());
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else {
    BOXCAR_CHECK(value.imag() == 0, "value cannot be converted to type {} without overflow", typeName<To>());
    return checkedConvert<To>(value.real());
  }
}

bool equal(int64_t a, double b) {
  return b >= -0x1p63 && b < 0x1p63 && static_cast<double>(static_cast<int64_t>(b)) == b &&
         static_cast<int64_t>(b) == a;
}

}  // namespace

void Scalar::failTooLarge(uint64_t value) {
  BOXCAR_FAIL("{} is too large for a Scalar, whose integers are at most {}", value,
              std::numeric_limits<int64_t>::max());
}

ScalarType Scalar::type() const {
  switch (kind_) {
    case Kind::Bool: return ScalarType::Bool;
    case Kind::Int: return ScalarType::Long;
    case Kind::Double: return ScalarType::Double;
    default: return ScalarType::ComplexDouble;
  }
}

template <class T>
T Scalar::to() const {
  if constexpr (std::is_same_v<T, bool>) {
    return isIntegral(true) ? int_ != 0 : double_[0] != 0 || double_[1] != 0;
  } else if constexpr (is_complex<T>) {
    if (isIntegral(true)) return T(static_cast<typename T::value_type>(int_));
    return checkedConvert<T>(std::complex<double>(double_[0], double_[1]));
  } else {
    if (isIntegral(true)) return checkedConvert<T>(int_);
    if (isFloatingPoint()) return checkedConvert<T>(double_[0]);
    return checkedConvert<T>(std::complex<double>(double_[0], double_[1]));
  }
}

template bool Scalar::to<bool>() const;
template uint8_t Scalar::to<uint8_t>() const;
template int8_t Scalar::to<int8_t>() const;
template int16_t Scalar::to<int16_t>() const;
template int32_t Scalar::to<int32_t>() const;
template int64_t Scalar::to<int64_t>() const;
template Half Scalar::to<Half>() const;
template BFloat16 Scalar::to<BFloat16>() const;
template float Scalar::to<float>() const;
template double Scalar::to<double>() const;
template std::complex<float> Scalar::to<std::complex<float>>() const;
template std::complex<double> Scalar::to<std::complex<double>>() const;

Scalar Scalar::operator-() const {
  if (isIntegral(true)) return static_cast<int64_t>(-static_cast<uint64_t>(int_));
  if (isFloatingPoint()) return -double_[0];
  return std::complex<double>(-double_[0], -double_[1]);
}

Scalar Scalar::conj() const { return isComplex() ? std::complex<double>(double_[0], -double_[1]) : *this; }

bool Scalar::operator==(const Scalar& other) const {
  if (isIntegral(true) && other.isIntegral(true)) return int_ == other.int_;
  if (isIntegral(true)) return other.double_[1] == 0 && equal(int_, other.double_[0]);
  if (other.isIntegral(true)) return other == *this;
  return double_[0] == other.double_[0] && double_[1] == other.double_[1];
}

std::string toString(const Scalar& scalar) {
  if (scalar.isBoolean()) return std::string(pythonBool(scalar.toBool()));
  if (scalar.isIntegral(false)) return std::to_string(scalar.toLong());
  if (scalar.isFloatingPoint()) return pythonFloat(scalar.toDouble());
  return pythonComplex(scalar.toComplexDouble());
}

}  // namespace boxcar
