#pragma once

#include <boxcar/backends/shape/dims.h>

#include <cstdint>
#include <span>

namespace boxcar::shape {

// The sizes that remain when the dimensions of [mask] are reduced: without them or, with [keepdim], with 1 in place.
inline DimVector reducedSizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim) {
  DimVector result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = (mask >> i & 1) != 0;
    if (!reduced) result.push_back(sizes[i]);
    if (reduced && keepdim) result.push_back(1);
  }
  return result;
}

}  // namespace boxcar::shape
