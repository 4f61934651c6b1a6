#pragma once

#include <cstdint>

namespace boxcar::elements {

// How pictures lie in memory, contiguous or channels last: [outer] blocks of [height] times [width] places of [inner]
// elements each, that is the batch and the channels outside, or the batch outside and the channels inside.
struct Pictures {
  int64_t outer;
  int64_t height;
  int64_t width;
  int64_t inner;
};

}  // namespace boxcar::elements
