#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>
#include <boxcar/ivalue/scalar_type.h>

#include <complex>
#include <cstdint>
#include <type_traits>

namespace boxcar::functors {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

template <class T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The type that arithmetic on T is done in: float for float16 and bfloat16, else T.
template <class T>
using Compute = std::conditional_t<kIsSmallFloat<T>, float, T>;

namespace detail {
template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
}  // namespace detail

// The type of the real part; T itself if it is not complex.
template <class T>
using RealOf = typename detail::RealPart<T>::type;

// The result of converting a float that does not fit into the integer type depends on the CPU, as in PyTorch.
#ifdef __clang__
#define BOXCAR_ANY_FLOAT_CAST __attribute__((no_sanitize("float-cast-overflow")))
#else
#define BOXCAR_ANY_FLOAT_CAST
#endif

// Converts [value] to another element type as PyTorch does: a complex number loses its imaginary part, a float its
// fraction, an integer its upper bits.
template <class To, class From>
BOXCAR_ANY_FLOAT_CAST BOXCAR_HOST_DEVICE inline To convertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsSmallFloat<From>) {
    return convertElement<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else if constexpr (kIsComplex<To>) {
    if constexpr (kIsComplex<From>) {
      return To(static_cast<RealOf<To>>(value.real()), static_cast<RealOf<To>>(value.imag()));
    } else {
      return To(static_cast<RealOf<To>>(value));
    }
  } else if constexpr (kIsComplex<From>) {
    return convertElement<To>(value.real());
  } else if constexpr (kIsSmallFloat<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, uint8_t> && std::is_floating_point_v<From>) {
    // A negative float wraps as a negative int does; a direct conversion to unsigned would be undefined.
    return static_cast<uint8_t>(static_cast<int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace boxcar::functors
