#pragma once

#include <boxcar/backends/functors/host_device.h>

#include <cstdint>

namespace boxcar::functors {

// How a convolution reads a spatial dimension of its input.
struct ConvolvedAxis {
  int64_t in = 1;
  int64_t kernel = 1;
  int64_t out = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
  bool transposed = false;

  // Returns the input index that kernel position [k] reads for output position [o]; -1 in the padding and, for
  // transposed convolutions, between the strides.
  BOXCAR_HOST_DEVICE int64_t index(int64_t k, int64_t o) const {
    const int64_t tap = k * dilation;
    if (!transposed) return inside(o * stride - padding + tap);
    const int64_t scaled = o + padding - tap;
    return scaled % stride == 0 ? inside(scaled / stride) : -1;
  }

 private:
  BOXCAR_HOST_DEVICE int64_t inside(int64_t place) const { return place >= 0 && place < in ? place : -1; }
};

}  // namespace boxcar::functors
