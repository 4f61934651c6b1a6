#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// The values are those in schemas.
enum class Interpolation : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum class GridPadding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

struct GridSampling {
  Interpolation interpolation;
  GridPadding padding;
  bool align_corners;
};

// Writes the elements of [input], [N, C, spatial dimensions…], at the positions of [grid] to [out], which has elements.
// All are contiguous and of one type, float32 or float64.
using SampleFunction = void(const GridSampling& how, const Tensor& out, const Tensor& input, const Tensor& grid);
extern DeviceStub<SampleFunction> sampleGrid;

}  // namespace boxcar::native
