#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/host_device.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

// The element functions of family "comparison" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct Equal {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a == b; }
};

template <class T>
struct NotEqual {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a != b; }
};

template <class T>
struct Less {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a < b; }
};

template <class T>
struct LessOrEqual {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a <= b; }
};

template <class T>
struct Greater {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a > b; }
};

template <class T>
struct GreaterOrEqual {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a >= b; }
};

template <class T>
struct IsNan {
  BOXCAR_HOST_DEVICE bool operator()(T a) const { return isNan(a); }
};

// Integers and bools are never infinite.
template <class T>
struct IsPositiveInfinity {
  static constexpr bool kExactOutput = true;
  BOXCAR_HOST_DEVICE bool operator()(T a) const {
    return std::is_floating_point_v<T> && a == std::numeric_limits<T>::infinity();
  }
};

template <class T>
struct IsNegativeInfinity {
  static constexpr bool kExactOutput = true;
  BOXCAR_HOST_DEVICE bool operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) return a == -std::numeric_limits<T>::infinity();
    return false;
  }
};

template <class T>
struct SignBit {
  static constexpr bool kExactOutput = true;
  BOXCAR_HOST_DEVICE bool operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      // GCC 12 cannot compile vectorized std::signbit.
      using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
      return std::bit_cast<Bits>(a) < 0;
    } else if constexpr (kIsInteger<T>) {
      return a < 0;
    } else {
      return false;
    }
  }
};

}  // namespace boxcar::functors
