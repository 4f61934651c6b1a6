#include <boxcar/backends/cpu/functors.h>
#include <boxcar/backends/cpu/pointwise_registration.h>
#include <boxcar/backends/cpu/pointwise_table.h>
#include <boxcar/backends/cpu/registration.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace boxcar::cpu {
namespace {

template <class T>
struct Equal {
  bool operator()(T a, T b) const { return a == b; }
};
template <class T>
struct NotEqual {
  bool operator()(T a, T b) const { return a != b; }
};
template <class T>
struct Less {
  bool operator()(T a, T b) const { return a < b; }
};
template <class T>
struct LessOrEqual {
  bool operator()(T a, T b) const { return a <= b; }
};
template <class T>
struct Greater {
  bool operator()(T a, T b) const { return a > b; }
};
template <class T>
struct GreaterOrEqual {
  bool operator()(T a, T b) const { return a >= b; }
};

template <class T>
struct IsNan {
  bool operator()(T a) const { return isNan(a); }
};

// Integers and bools are never infinite.
template <class T>
struct IsPositiveInfinity {
  static constexpr bool kExactOutput = true;
  bool operator()(T a) const { return std::is_floating_point_v<T> && a == std::numeric_limits<T>::infinity(); }
};
template <class T>
struct IsNegativeInfinity {
  static constexpr bool kExactOutput = true;
  bool operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) return a == -std::numeric_limits<T>::infinity();
    return false;
  }
};

template <class T>
struct SignBit {
  static constexpr bool kExactOutput = true;
  bool operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>) {
      // GCC 12 fails on vectors of std::signbit.
      using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
      return std::bit_cast<Bits>(a) < 0;
    } else if constexpr (kIsInteger<T>) {
      return a < 0;
    } else {
      return false;
    }
  }
};

}  // namespace

BOXCAR_CPU_AND_META(aten, m) { BOXCAR_COMPARISON_OPERATORS(BOXCAR_REGISTER_POINTWISE) }

}  // namespace boxcar::cpu
