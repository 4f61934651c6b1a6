#pragma once

#include <boxcar/backends/functors/host_device.h>

namespace boxcar::cuda {

// What each of a block's [threads] threads keeps in registers from one step of the block to the next.
template <class T, int threads>
class PerThread final {
 public:
#ifdef __CUDA_ARCH__
  __device__ T& operator[](int) { return mine_; }

 private:
  T mine_;
#else
  BOXCAR_HOST_DEVICE T& operator[](int thread) { return all_[thread]; }

 private:
  T all_[threads];
#endif
};

}  // namespace boxcar::cuda
