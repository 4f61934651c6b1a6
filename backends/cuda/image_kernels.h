#pragma once

#include <boxcar/backends/functors/convolution.h>
#include <boxcar/backends/functors/images.h>
#include <boxcar/backends/functors/pads.h>
#include <boxcar/backends/functors/windows.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <optional>

// Kernels for images, which nvcc compiles. functors::Images describes the layout of tensors; launches without it have
// contiguous tensors.

namespace boxcar::cuda {

struct PadLaunch {
  const void* in;
  void* out;
  size_t itemsize;
  int64_t count;                 // elements of the result
  functors::PaddedAxis axes[3];  // the outermost first
};
void launchPad(const PadLaunch& launch);

struct PoolLaunch {
  const void* in;
  void* out;
  int64_t* indices;  // only for launchGreatest
  ScalarType type;
  functors::Images images;
  functors::WindowAxis rows;
  functors::WindowAxis columns;
  functors::WindowDivisor divisor;  // only for launchMean
};
void launchGreatest(const PoolLaunch& launch);
void launchMean(const PoolLaunch& launch);

struct UpsampleLaunch {
  const void* in;
  void* out;
  ScalarType type;
  functors::Images from;
  functors::Images to;
  std::optional<double> scale_h;
  std::optional<double> scale_w;
  bool align_corners;
};
void launchNearest(const UpsampleLaunch& launch);
void launchLinear(const UpsampleLaunch& launch);

// Writes the image windows (im2col) for positions [begin, begin + count) of the result, for [channels] of one sample: a
// row for each channel and kernel position, and a column for each window.
struct ColumnsLaunch {
  const void* in;
  void* columns;
  size_t itemsize;
  functors::ConvolvedAxis axes[3];
  int64_t channels;
  int64_t begin;
  int64_t count;
};
void launchColumns(const ColumnsLaunch& launch);

}  // namespace boxcar::cuda
