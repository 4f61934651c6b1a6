#pragma once

#include <boxcar/backends/meta/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::meta {

// How the losses of all samples are reduced. The values are PyTorch's.
enum class LossReduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// Returns the enumerator of [reduction]; throws Error for any other number.
LossReduction lossReduction(int64_t reduction);

// The checked sizes of a loss over log-probabilities and target classes.
struct ClassLoss {
  DimVector output_sizes;  // the target's, or none if the losses are summed or averaged
  int64_t samples;
  int64_t classes;
  int64_t pixels;  // of each sample
};

// Throws Error if [self] of [C] or [N, C] does not match [target] of no dimensions or [N], or [weight] of [C]; [weight]
// may be undefined.
ClassLoss checkNllLoss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction);

// Like checkNllLoss for [self] of [N, C, H, W] and [target] of [N, H, W].
ClassLoss checkNllLoss2d(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction);

}  // namespace boxcar::meta
