#pragma once

#include <boxcar/ivalue/error.h>

#include <cstdint>

namespace boxcar::meta {

// How a loss reduces the losses of its elements. The values are those in schemas.
enum class Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

inline Reduction toReduction(int64_t reduction) {
  BOXCAR_CHECK(reduction >= 0 && reduction <= 2, "reduction must be 0 (none), 1 (mean) or 2 (sum), but it is {}",
               reduction);
  return static_cast<Reduction>(reduction);
}

}  // namespace boxcar::meta
