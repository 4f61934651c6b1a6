#pragma once

#include <boxcar/backends/elements/moments.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

// Batch normalisation, which nvcc compiles: the moments of parts of each channel, then what becomes of each channel,
// then the elements.

namespace boxcar::cuda {

struct BatchNormLaunch {
  const void* in;  // [samples, channels, length], or [samples, length, channels] when channels are innermost
  void* out;
  ScalarType type;
  int64_t samples;
  int64_t channels;
  int64_t length;
  bool channels_last;

  // Of [parameter_type], which is float32 or [type]; contiguous, null where there are none.
  ScalarType parameter_type;
  const void* weight;
  const void* bias;
  void* running_mean;
  void* running_var;
  void* mean;  // of training alone, as the next one
  void* scale;
  // Room for the moments of each channel's parts, of training alone.
  elements::Moments<double>* moments;
  int64_t parts;
  // Room for two numbers of float32, or float64 where the input is, for each channel.
  void* factors;

  bool training;
  double momentum;
  double eps;
};
void launchBatchNorm(const BatchNormLaunch& launch);

}  // namespace boxcar::cuda
