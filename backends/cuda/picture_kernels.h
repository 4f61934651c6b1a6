#pragma once

#include <boxcar/backends/elements/convolution.h>
#include <boxcar/backends/elements/pads.h>
#include <boxcar/backends/elements/pictures.h>
#include <boxcar/backends/elements/windows.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>
#include <optional>

// Kernels that go over pictures, which nvcc compiles. Tensors lie as their elements::Pictures say; those without are
// contiguous.

namespace boxcar::cuda {

struct PadLaunch {
  const void* in;
  void* out;
  size_t itemsize;
  int64_t count;                 // elements of the result
  elements::PaddedAxis axes[3];  // the outermost first
};
void launchPad(const PadLaunch& launch);

struct PoolLaunch {
  const void* in;
  void* out;
  int64_t* indices;  // of the greatest elements alone
  ScalarType type;
  elements::Pictures pictures;
  elements::WindowAxis rows;
  elements::WindowAxis columns;
  elements::WindowDivisor divisor;  // of means alone
};
void launchGreatest(const PoolLaunch& launch);
void launchMean(const PoolLaunch& launch);

struct UpsampleLaunch {
  const void* in;
  void* out;
  ScalarType type;
  elements::Pictures from;
  elements::Pictures to;
  std::optional<double> scale_h;
  std::optional<double> scale_w;
  bool align_corners;
};
void launchNearest(const UpsampleLaunch& launch);
void launchLinear(const UpsampleLaunch& launch);

// Writes the windows of an image, of [channels] of a sample, that make places [begin, begin + count) of the result:
// a row for each channel and place of the kernel, and a column for each window.
struct ColumnsLaunch {
  const void* in;
  void* columns;
  size_t itemsize;
  elements::ConvolvedAxis axes[3];
  int64_t channels;
  int64_t begin;
  int64_t count;
};
void launchColumns(const ColumnsLaunch& launch);

}  // namespace boxcar::cuda
