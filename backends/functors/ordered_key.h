#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/host_device.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace boxcar::functors {

template <class T>
using OrderedKey = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Maps [x] to an unsigned number that preserves the order; NaN is the greatest, and both zeros are equal.
template <class T>
BOXCAR_HOST_DEVICE inline OrderedKey<T> orderedKey(T x) {
  if constexpr (kIsSmallFloat<T>) {
    return orderedKey(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Key = OrderedKey<T>;
    using Signed = std::make_signed_t<Key>;
    constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
    const Key bits = std::bit_cast<Key>(x + T(0));
    const Key key = bits ^ (static_cast<Key>(static_cast<Signed>(bits) >> (8 * sizeof(T) - 1)) | kSign);
    return isNan(x) ? static_cast<Key>(~Key{0}) : key;
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63);
  } else {
    // Relative to the minimum, so that small types have small keys.
    constexpr auto kLeast = static_cast<uint32_t>(static_cast<int32_t>(std::numeric_limits<T>::min()));
    return static_cast<uint32_t>(static_cast<int32_t>(x)) - kLeast;
  }
}

// The bits of the key of a T that distinguish elements: the first bit and the number of bits.
template <class T>
inline constexpr int kFirstKeyBit = std::is_same_v<T, Half>       ? 13
                                    : std::is_same_v<T, BFloat16> ? 16
                                                                  : 0;
template <class T>
inline constexpr int kKeyBits = kIsSmallFloat<T> ? 32 - kFirstKeyBit<T> : static_cast<int>(8 * sizeof(T));

// Returns the key of [x] reduced to those bits, as the lowest bits of the result. If [descending], the greatest element
// has the least key.
template <class T>
BOXCAR_HOST_DEVICE inline OrderedKey<T> denseKey(T x, bool descending) {
  constexpr int kUnused = static_cast<int>(8 * sizeof(OrderedKey<T>)) - kKeyBits<T>;
  constexpr auto kMask = static_cast<OrderedKey<T>>(static_cast<OrderedKey<T>>(~OrderedKey<T>{0}) >> kUnused);
  const OrderedKey<T> key = orderedKey(x);
  return static_cast<OrderedKey<T>>((descending ? ~key : key) >> kFirstKeyBit<T>) & kMask;
}

}  // namespace boxcar::functors
