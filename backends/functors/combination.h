#pragma once

#include <boxcar/backends/functors/arithmetic.h>
#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

// How scattered elements are combined with the existing ones.

namespace boxcar::functors {

enum class Combination : uint8_t { kAdd, kMul, kAmax, kAmin };

template <Combination how, class T>
struct Combine {
  BOXCAR_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (how == Combination::kAdd) {
      return addElements(a, b);
    } else if constexpr (how == Combination::kMul) {
      return multiplyElements(a, b);
    } else {
      // NaN propagates.
      const bool keeps = how == Combination::kAmax ? a > b : a < b;
      return keeps || isNan(a) ? a : b;
    }
  }
};

}  // namespace boxcar::functors
