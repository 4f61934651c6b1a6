#include <boxcar/backends/cpu/library_gemm.h>

namespace boxcar::cpu {

bool gemmByOneDnn(int64_t, int64_t, int64_t, float, Matrix<const float>, Matrix<const float>, float, Matrix<float>) {
  return false;
}

bool multiplyBFloat16ByOneDnn(const Tensor&, const Tensor&, const Tensor&) { return false; }

}  // namespace boxcar::cpu
