#pragma once

#include <boxcar/backends/functors/functions.h>
#include <boxcar/backends/functors/host_device.h>

// How batch norm normalises a channel, in float64.

namespace boxcar::functors {

// Maps an element to element * factor + shift.
struct ChannelScale {
  double factor;
  double shift;

  BOXCAR_HOST_DEVICE ChannelScale(double mean, double scale, double weight, double bias)
      : factor(scale * weight), shift(bias - mean * factor) {}
};

BOXCAR_HOST_DEVICE inline double reciprocalDeviation(double variance, double eps) { return 1 / sqrt(variance + eps); }

// Returns the unbiased variance, given the [variance] of a sample of [count] elements.
BOXCAR_HOST_DEVICE inline double unbiasedVariance(double variance, double count) {
  return variance * (count / (count - 1));
}

BOXCAR_HOST_DEVICE inline double runningStatistic(double before, double value, double momentum) {
  return momentum * value + (1 - momentum) * before;
}

}  // namespace boxcar::functors
