#pragma once

#include <boxcar/backends/functors/element.h>
#include <boxcar/backends/functors/philox.h>

#include <cstdint>
#include <limits>

// Converts the random bits of a Philox block to numbers.

namespace boxcar::cuda {

BOXCAR_HOST_DEVICE inline uint64_t longWord(const functors::PhiloxBlock& drawn, int k) {
  return uint64_t{drawn.words[2 * k + 1]} << 32 | drawn.words[2 * k];
}

// Returns number [k], in [0, 1), with as many random bits as T has digits. A float64 uses two words.
template <class T>
BOXCAR_HOST_DEVICE inline functors::Compute<T> unitNumber(const functors::PhiloxBlock& drawn, int k) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  if constexpr (std::is_same_v<T, double>) {
    return static_cast<double>(longWord(drawn, k) >> (64 - kDigits)) * 0x1p-53;
  } else {
    constexpr float kUnit = 1.0F / static_cast<float>(uint32_t{1} << kDigits);
    return static_cast<float>(drawn.words[k] >> (32 - kDigits)) * kUnit;
  }
}

// Returns number [k], in the open interval (0, 1).
template <class C>
BOXCAR_HOST_DEVICE inline C insideNumber(const functors::PhiloxBlock& drawn, int k) {
  C value;
  if constexpr (std::is_same_v<C, double>) {
    value = static_cast<double>(longWord(drawn, k) >> 11) * 0x1p-53 + 0x1p-54;
  } else {
    value = static_cast<float>(drawn.words[k]) * 0x1p-32F + 0x1p-33F;
  }
  constexpr C kMost = C(1) - std::numeric_limits<C>::epsilon() / 2;
  return value < kMost ? value : kMost;
}

}  // namespace boxcar::cuda
