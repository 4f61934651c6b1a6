#pragma once

#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/scalar_type.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>

namespace boxcar {

// The value of a schema's Scalar: bool, int, float or complex, as a Python number is.
class BOXCAR_API Scalar {
 public:
  constexpr Scalar() : Scalar(int64_t{0}) {}
  constexpr Scalar(bool value) : kind_(Kind::Bool), int_(value) {}
  constexpr Scalar(double value) : kind_(Kind::Double), double_{value, 0} {}
  constexpr Scalar(float value) : Scalar(static_cast<double>(value)) {}
  constexpr Scalar(Half value) : Scalar(static_cast<double>(value)) {}
  constexpr Scalar(BFloat16 value) : Scalar(static_cast<double>(value)) {}
  constexpr Scalar(std::complex<double> value) : kind_(Kind::Complex), double_{value.real(), value.imag()} {}
  constexpr Scalar(std::complex<float> value) : Scalar(std::complex<double>(value)) {}
  // Throws Error for an unsigned number above the largest int64.
  template <std::integral T>
  constexpr Scalar(T value) : kind_(Kind::Int), int_(static_cast<int64_t>(value)) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) == sizeof(int64_t)) {
      if (int_ < 0) failTooLarge(value);
    }
  }

  constexpr bool isBoolean() const { return kind_ == Kind::Bool; }
  constexpr bool isIntegral(bool includeBool) const {
    return kind_ == Kind::Int || (includeBool && kind_ == Kind::Bool);
  }
  constexpr bool isFloatingPoint() const { return kind_ == Kind::Double; }
  constexpr bool isComplex() const { return kind_ == Kind::Complex; }

  // Bool, Long, Double or ComplexDouble.
  ScalarType type() const;

  // Returns the value as an element type; a float becomes an int by truncation toward zero. Throws Error when the value
  // does not fit; negative numbers wrap in uint8, as -1 does in PyTorch. [T] is one of kAllTypes.
  template <class T>
  T to() const;

  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int32_t>(); }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  bool toBool() const { return to<bool>(); }
  std::complex<double> toComplexDouble() const { return to<std::complex<double>>(); }

  Scalar operator-() const;
  Scalar conj() const;

  // Compares values exactly, as Python does: True, 1, 1.0 and (1+0j) are equal, NaN equals nothing.
  bool operator==(const Scalar& other) const;

 private:
  enum class Kind : uint8_t { Bool, Int, Double, Complex };

  [[noreturn]] static void failTooLarge(uint64_t value);

  Kind kind_;
  union {
    int64_t int_;
    double double_[2];  // real, imaginary
  };
};
static_assert(sizeof(Scalar) == 24);

// As Python prints it: 5, 1.0, 1e-05, inf, True, (1+2j).
BOXCAR_API std::string toString(const Scalar& scalar);

}  // namespace boxcar
