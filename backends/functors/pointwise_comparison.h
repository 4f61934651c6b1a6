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
struct Eq {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a == b; }
};

template <class T>
struct Ne {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a != b; }
};

template <class T>
struct Lt {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a < b; }
};

template <class T>
struct Le {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a <= b; }
};

template <class T>
struct Gt {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a > b; }
};

template <class T>
struct Ge {
  BOXCAR_HOST_DEVICE bool operator()(T a, T b) const { return a >= b; }
};

template <class T>
struct Isnan {
  BOXCAR_HOST_DEVICE bool operator()(T a) const { return isNan(a); }
};

// Integers and bools are never infinite.
template <class T>
struct Isposinf {
  static constexpr bool kExactOutput = true;
  BOXCAR_HOST_DEVICE bool operator()(T a) const {
    return std::is_floating_point_v<T> && a == std::numeric_limits<T>::infinity();
  }
};

template <class T>
struct Isneginf {
  static constexpr bool kExactOutput = true;
  BOXCAR_HOST_DEVICE bool operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) return a == -std::numeric_limits<T>::infinity();
    return false;
  }
};

template <class T>
struct Signbit {
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
