#include <boxcar/backends/cuda/module/parts.h>

namespace boxcar::cuda {

bool convolveByPlan(const ConvolutionCall&) { return false; }

}  // namespace boxcar::cuda
