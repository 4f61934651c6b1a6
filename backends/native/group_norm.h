#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// Elements of [samples, groups, channels of a group, elements of a channel], normalised per group of each sample. All
// tensors are contiguous and of one type, float32 or float64; weight and bias, one number per channel, may be
// undefined.
struct GroupNormCall {
  const Tensor& input;
  const Tensor& weight;
  const Tensor& bias;
  int64_t samples;
  int64_t groups;
  int64_t channels;
  int64_t length;
  double eps;
};

// Writes the normalised elements to [out], and each group's mean and reciprocal standard deviation to [mean] and
// [scale], which are not empty.
using GroupNormFunction = void(const GroupNormCall& call, const Tensor& out, const Tensor& mean, const Tensor& scale);
extern DeviceStub<GroupNormFunction> groupNormRows;

}  // namespace boxcar::native
