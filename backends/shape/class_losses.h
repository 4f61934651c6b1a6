#pragma once

#include <boxcar/backends/shape/dims.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>

namespace boxcar::shape {

// What becomes of the losses of all samples. The numbers are PyTorch's.
enum class LossReduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

// The enumerator of [reduction]; an Error for another number.
LossReduction lossReduction(int64_t reduction);

// Log-probabilities and the classes that are right.
struct ClassLoss {
  DimVector output_sizes;  // the target's, or none when the losses are summed up
  int64_t samples;
  int64_t classes;
  int64_t pixels;  // of each sample
};

// An Error when [self] of [C] or [N, C] does not go with [target] of no dimensions or [N], or with [weight] of [C],
// which may be undefined.
ClassLoss checkNllLoss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction);

// The same for [self] of [N, C, H, W] and [target] of [N, H, W].
ClassLoss checkNllLoss2d(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction);

}  // namespace boxcar::shape
