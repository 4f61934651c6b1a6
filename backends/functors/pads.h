#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

namespace boxcar::functors {

// A dimension padded with its own elements: mirrored at its ends, or with the end elements repeated. Negative padding
// removes elements.
struct PaddedAxis {
  int64_t size = 1;
  int64_t padded = 1;
  int64_t before = 0;
  bool reflects = false;

  // Returns the input index of element [i] of the padded dimension.
  BOXCAR_HOST_DEVICE int64_t source(int64_t i) const {
    int64_t from = i - before;
    if (reflects && from < 0) from = -from;
    if (reflects && from >= size) from = 2 * (size - 1) - from;
    return from < 0 ? 0 : from >= size ? size - 1 : from;
  }
};

}  // namespace boxcar::functors
