#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <cstdint>
#include <type_traits>

// The element functions of family "bitwise" in pointwise_table.h.

namespace boxcar::functors {

template <class T>
struct BitwiseAnd {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a & b); }
};

template <class T>
struct BitwiseOr {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a | b); }
};

template <class T>
struct BitwiseXor {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

// Shifts by a negative count, or by the number of bits or more, act like shifts by infinitely many bits.
template <class T>
inline constexpr int kBits = 8 * sizeof(T);

template <class T>
struct LeftShift {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if (b < 0 || static_cast<int64_t>(b) >= kBits<T>) return 0;
    return static_cast<T>(static_cast<uint64_t>(a) << b);
  }
};

template <class T>
struct RightShift {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    const bool all = b < 0 || static_cast<int64_t>(b) >= kBits<T>;
    return static_cast<T>(a >> (all ? kBits<T> - 1 : b)) * (all && std::is_unsigned_v<T> ? 0 : 1);
  }
};

template <class T>
struct BitwiseNot {
  BOXCAR_HOST_DEVICE T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !a;
    } else {
      return static_cast<T>(~a);
    }
  }
};

}  // namespace boxcar::functors
