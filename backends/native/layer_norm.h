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
// standard deviation to [mean] and [scale], which are of the input's type, or of float32.
using LayerNormFunction = void(const LayerNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale);
extern DeviceStub<LayerNormFunction> layerNormRows;

// Writes such rows, each times the reciprocal of its root mean square, and times the weight, to [out], and that
// reciprocal to [scale] unless it is null. There is no bias. All tensors are contiguous and of one type, float32 or
// float64.
using RmsNormFunction = void(const LayerNormCall& call, const Tensor& out, const Tensor* scale);
// A device that has none takes the operators that it is made of.
extern DeviceStub<RmsNormFunction> rmsNormRows;

// The gradients of such rows, from those of the result; all tensors are contiguous and of one type, float32 or float64.
struct LayerNormGradientCall {
  const Tensor& grad_out;
  const Tensor& input;
  const Tensor& mean;
  const Tensor& scale;
  const Tensor* weight;  // may be null
  int64_t rows;
  int64_t length;
};

// Writes the gradients of the input, the weight and the bias to those of the tensors that are not null.
using LayerNormGradientFunction = void(const LayerNormGradientCall& call, const Tensor* of_input,
                                       const Tensor* of_weight, const Tensor* of_bias);
// A device that has none takes the operators that they are made of.
extern DeviceStub<LayerNormGradientFunction> layerNormGradients;

}  // namespace boxcar::native
