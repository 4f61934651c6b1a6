#pragma once

#include <boxcar/backends/meta/loss_reduction.h>
#include <boxcar/ivalue/tensor.h>
#include <boxcar/ops.h>

#include <cstdint>

namespace boxcar::composite {

// Returns the mean or the sum of the losses, or the losses, as [reduction] of a schema says.
inline Tensor reducedLoss(const Tensor& loss, int64_t reduction) {
  switch (meta::toReduction(reduction)) {
    case meta::Reduction::kMean: return boxcar::mean(loss);
    case meta::Reduction::kSum: return boxcar::sum(loss);
    default: return loss;
  }
}

}  // namespace boxcar::composite
