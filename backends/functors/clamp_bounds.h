#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/scalar.h>
#include <boxcar/ivalue/scalar_type.h>
#include <boxcar/ivalue/tensor.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// Numbers as bounds of integers: one that is out of the dtype's range does not wrap around.

namespace boxcar::functors {

// Returns the least and the greatest number of an integer type.
inline std::pair<int64_t, int64_t> integerRangeOf(ScalarType type) {
  switch (type) {
    case ScalarType::Byte: return {0, 255};
    case ScalarType::Char: return {-128, 127};
    case ScalarType::Short: return {-32768, 32767};
    case ScalarType::Int: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default: return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

inline bool boundsIntegers(const Tensor& self, const Scalar& bound) {
  return isIntegralType(self.scalar_type(), /*includeBool=*/false) && bound.isIntegral(false);
}

// Returns the bound that is in the range of the dtype of [self]. Throws Error if no element can reach it.
inline Scalar lowerBound(const Tensor& self, const Scalar& min) {
  if (!boundsIntegers(self, min)) return min;
  const auto [least, greatest] = integerRangeOf(self.scalar_type());
  BOXCAR_CHECK(min.toLong() <= greatest,
               "the lower bound {} is above {}, the greatest number of dtype {}; convert the tensor to a wider "
               "dtype first",
               min.toLong(), greatest, dtypeName(self.scalar_type()));
  return std::max(min.toLong(), least);
}
inline Scalar upperBound(const Tensor& self, const Scalar& max) {
  if (!boundsIntegers(self, max)) return max;
  const auto [least, greatest] = integerRangeOf(self.scalar_type());
  BOXCAR_CHECK(max.toLong() >= least,
               "the upper bound {} is below {}, the least number of dtype {}; convert the tensor to a wider "
               "dtype first",
               max.toLong(), least, dtypeName(self.scalar_type()));
  return std::min(max.toLong(), greatest);
}

// Returns [bound] as T, with the nearest integer of T if it is out of the range.
template <class T>
T boundAs(const Scalar& bound) {
  if constexpr (std::is_integral_v<T>) {
    if (bound.isIntegral(false)) {
      using Limits = std::numeric_limits<T>;
      return static_cast<T>(std::clamp<int64_t>(bound.toLong(), Limits::min(), Limits::max()));
    }
  }
  return bound.to<T>();
}

}  // namespace boxcar::functors
