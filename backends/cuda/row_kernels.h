#pragma once

#include <boxcar/ivalue/scalar_type.h>

#include <cstddef>
#include <cstdint>

// Softmax and layer normalization, which nvcc compiles. All tensors are contiguous.

namespace boxcar::cuda {

struct SoftmaxLaunch {
  const void* in;
  void* out;
  ScalarType type;  // of the input
  bool to_float;    // the result is float32
  int64_t outer;
  int64_t length;
  int64_t inner;
  bool logarithm;
};
void launchSoftmax(const SoftmaxLaunch& launch);

struct LayerNormLaunch {
  const void* in;
  const void* weight;  // null if there is none; of [parameter_type], like the bias
  const void* bias;
  void* out;
  void* mean;
  void* scale;
  ScalarType statistics;  // of mean and scale: [type], or float32
  ScalarType type;
  ScalarType parameter_type;  // [type], or float32
  int64_t rows;
  int64_t length;
  double eps;
};
void launchLayerNorm(const LayerNormLaunch& launch);

}  // namespace boxcar::cuda
