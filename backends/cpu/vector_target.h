#pragma once

#include <cstdint>

namespace boxcar::cpu {

// The kinds of vectors that kernels are compiled for.
enum class VectorTarget : uint8_t {
  kBaseline,  // what every processor of the architecture has
  kAvx2,      // 32 bytes, with fused products and sums
  kAvx3,      // 64 bytes: AVX-512 F, BW, CD, DQ, VL
};

// The best that this processor has.
inline VectorTarget vectorTarget() {
#if defined(__x86_64__)
  static const VectorTarget target = [] {
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                          __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
    const bool has_avx3 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl");
    return has_avx3 ? VectorTarget::kAvx3 : has_avx2 ? VectorTarget::kAvx2 : VectorTarget::kBaseline;
  }();
  return target;
#else
  return VectorTarget::kBaseline;
#endif
}

}  // namespace boxcar::cpu
