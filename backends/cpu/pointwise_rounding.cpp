#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>
#include <boxcar/ivalue/error.h>

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <type_traits>

namespace boxcar::cpu {
namespace {

template <class T>
struct Negative {
  static constexpr VectorFunction kVector = VectorFunction::kNegative;
  static constexpr std::string_view kBoolRefusal =
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
      "or "
      "`logical_not()` operator instead.";
  T operator()(T a) const {
    if constexpr (kIsInteger<T>) {
      return subtractElements(T(0), a);
    } else {
      return -a;  // zero changes its sign too
    }
  }
};

template <class T>
struct Absolute {
  static constexpr VectorFunction kVector = VectorFunction::kAbsolute;
  RealOf<T> operator()(T a) const {
    if constexpr (kIsInteger<T>) {
      return a < 0 ? subtractElements(T(0), a) : a;
    } else {
      return std::abs(a);
    }
  }
};

// 0 for NaN; of a complex number, its direction.
template <class T>
struct Sign {
  T operator()(T a) const {
    if constexpr (kIsComplex<T>) {
      return a == T(0) ? T(0) : a / std::abs(a);
    } else {
      return static_cast<T>((T(0) < a) - (a < T(0)));
    }
  }
};

// Integers are whole already.
template <class T>
struct Floor {
  static constexpr VectorFunction kVector = VectorFunction::kFloor;
  T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return std::floor(a);
  }
};

template <class T>
struct Ceiling {
  static constexpr VectorFunction kVector = VectorFunction::kCeil;
  T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return std::ceil(a);
  }
};

template <class T>
struct Truncated {
  static constexpr VectorFunction kVector = VectorFunction::kTruncate;
  T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return std::trunc(a);
  }
};

// Halves to even.
template <class T>
struct Rounded {
  static constexpr VectorFunction kVector = VectorFunction::kRound;
  T operator()(T a) const {
    if constexpr (kIsInteger<T>) return a;
    return std::nearbyint(a);
  }
};

template <class T>
struct RoundedToDecimals {
  using Parameters = Arguments<int64_t>;
  bool before_point;
  T power;
  explicit RoundedToDecimals(const Scalar* params)
      : before_point(params->toLong() < 0), power(static_cast<T>(std::pow(10.0, std::abs(params->toDouble())))) {}
  T operator()(T a) const {
    return before_point ? std::nearbyint(a / power) * power : std::nearbyint(a * power) / power;
  }
};

template <class T>
struct Fraction {
  T operator()(T a) const { return a - std::trunc(a); }
};

// The numbers to put for NaN, infinity and its opposite.
template <class T>
struct Replace {
  static constexpr bool kExactOutput = true;
  T nan, positive, negative;
  explicit Replace(const Scalar* params)
      : nan(convertElement<T>(params[0].toDouble())),
        positive(convertElement<T>(params[1].toDouble())),
        negative(convertElement<T>(params[2].toDouble())) {}
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return nan;
      if (a == std::numeric_limits<T>::infinity()) return positive;
      if (a == -std::numeric_limits<T>::infinity()) return negative;
    }
    return a;
  }
};
constexpr Pointwise kReplace = makePointwise<Replace, 1, Result::kSame>("nan_to_num", kRealAndBoolTypes);

double largest(ScalarType type) {
  switch (type) {
    case ScalarType::Half: return 65504;
    case ScalarType::BFloat16: return 0x1.fep127;
    case ScalarType::Float: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

// What stands for infinities, where nothing is said, is the largest number of the elements' type.
struct Replacements {
  Scalar params[3];
  Replacements(const Tensor& self, std::optional<double> nan, std::optional<double> posinf,
               std::optional<double> neginf)
      : params{nan.value_or(0.0), posinf.value_or(largest(self.scalar_type())),
               neginf.value_or(-largest(self.scalar_type()))} {}
};
using Optional = std::optional<double>;

Tensor nanToNum(const Tensor& self, Optional nan, Optional posinf, Optional neginf) {
  return pointwise(kReplace, {self}, Replacements(self, nan, posinf, neginf).params);
}
Tensor& nanToNumInPlace(Tensor& self, Optional nan, Optional posinf, Optional neginf) {
  return pointwiseInPlace(kReplace, self, {self}, Replacements(self, nan, posinf, neginf).params);
}
Tensor& nanToNumOut(const Tensor& self, Optional nan, Optional posinf, Optional neginf, Tensor& out) {
  return pointwiseOut(kReplace, out, {self}, Replacements(self, nan, posinf, neginf).params);
}

}  // namespace

BOXCAR_CPU_AND_META(aten, m) {
  BOXCAR_ROUNDING_OPERATORS(BOXCAR_REGISTER_POINTWISE)
  m.impl("nan_to_num", BOXCAR_FN(nanToNum));
  m.impl("nan_to_num_", BOXCAR_FN(nanToNumInPlace));
  m.impl("nan_to_num.out", BOXCAR_FN(nanToNumOut));
}

}  // namespace boxcar::cpu
