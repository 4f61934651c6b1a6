#pragma once

#include <boxcar/backends/cuda/failure.h>
#include <boxcar/ivalue/scalar_type.h>

#include <cstdint>

namespace boxcar::cuda {

// A loss and a weight for each target, in float32, or float64 if the log-probabilities are. nvcc compiles the kernel.
struct ClassLossLaunch {
  const void* log_probabilities;
  const int64_t* targets;
  const void* weights;  // null when all are 1
  void* losses;
  void* loss_weights;
  ScalarType type;
  int64_t samples;
  int64_t classes;
  int64_t pixels;
  int64_t ignored;
  Failure* failure;
};
void launchClassLosses(const ClassLossLaunch& launch);

}  // namespace boxcar::cuda
