#pragma once

namespace boxcar::cuda {

// While it exists, the kernels that this thread launches start only when earlier ones have ended. It is for kernels
// that give each multiprocessor the same number of equal blocks: blocks that start early go where there is room, so
// that some multiprocessors get more of them. On an H200, the sum of 256 MB then took 87 us instead of 67.
class LateStart final {
 public:
#ifdef __CUDACC__
  LateStart();
  ~LateStart();
#else
  LateStart() {}
  ~LateStart() {}
#endif
  LateStart(const LateStart&) = delete;
  LateStart& operator=(const LateStart&) = delete;

 private:
  [[maybe_unused]] bool before_ = false;
};

}  // namespace boxcar::cuda
