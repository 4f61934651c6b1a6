#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// [rows] rows of [length] elements, each row normalised; weight and bias have [length] elements, or are null.
struct LayerNormCall {
  const Tensor& input;
  const Tensor* weight;
  const Tensor* bias;
  int64_t rows;
  int64_t length;
  double eps;
};

// Writes the normalised rows to [out], which is contiguous and of the input's type, and each row's mean and reciprocal
// standard deviation to [mean] and [scale], which are float64 if the input is, else float32.
using LayerNormFunction = void(const LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale);
extern DeviceStub<LayerNormFunction> layerNormRows;

}  // namespace boxcar::native
