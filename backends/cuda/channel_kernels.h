#pragma once

#include <boxcar/backends/functors/moments.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Batch normalization, in three steps: the moments of parts of each channel, then the factors of each channel, then the
// elements. nvcc compiles the kernels.

namespace boxcar::cuda {

struct BatchNormLaunch {
  const void* in;  // [samples, channels, length], or [samples, length, channels] if channels_last
  void* out;
  ScalarType type;
  int64_t samples;
  int64_t channels;
  int64_t length;
  bool channels_last;

  // Of [parameter_type], which is float32 or [type]. Contiguous; null if absent.
  ScalarType parameter_type;
  const void* weight;
  const void* bias;
  void* running_mean;
  void* running_var;
  void* mean;  // only in training, like the next one
  void* scale;
  // Room for the moments of each channel's parts; only in training.
  functors::Moments<double>* moments;
  int64_t parts;
  // Room for two numbers per channel: float32, or float64 if the input is float64.
  void* factors;

  bool training;
  double momentum;
  double eps;
};
void launchBatchNorm(const BatchNormLaunch& launch);

}  // namespace boxcar::cuda
