#pragma once

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

}  // namespace boxcar::cuda
