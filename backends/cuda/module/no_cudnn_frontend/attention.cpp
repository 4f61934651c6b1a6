#include <boxcar/backends/cuda/attention.h>
#include <boxcar/backends/cuda/module/parts.h>

namespace boxcar::cuda {

bool attendByCudnn(const AttentionCall&) { return false; }

}  // namespace boxcar::cuda
