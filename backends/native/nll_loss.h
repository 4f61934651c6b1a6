#pragma once

#include <boxcar/backends/meta/class_losses.h>
#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::native {

// Log-probabilities of [samples, classes, pixels], and a class, int64, for each sample and pixel. All are contiguous;
// [weights], one number per class, has the log-probabilities' type, or is undefined if all weights are 1.
struct ClassLossCall {
  const meta::ClassLoss& sizes;
  const Tensor& log_probabilities;
  const Tensor& targets;
  const Tensor& weights;
  int64_t ignored;
  bool sums;     // one loss for all targets
  bool is_mean;  // divided by the sum of the weights
};

// Writes the losses to [out] and, if they are summed, the sum of the weights to [total_weight], else 0. Throws Error if
// a target is not a class.
using ClassLossFunction = void(const ClassLossCall& call, const Tensor& out, const Tensor& total_weight);
extern DeviceStub<ClassLossFunction> classLosses;

}  // namespace boxcar::native
