#pragma once

#include <cstdint>

namespace boxcar::functors {

// The memory layout of images, contiguous or channels-last: [outer] blocks of [height] times [width] positions of
// [inner] elements each. [outer] is batch times channels with [inner] 1, or the batch with [inner] the channels.
struct Images {
  int64_t outer;
  int64_t height;
  int64_t width;
  int64_t inner;
};

}  // namespace boxcar::functors
