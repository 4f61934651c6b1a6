#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace boxcar::cpu {

// The kinds of vectors that kernels are compiled for.
enum class VectorTarget : uint8_t {
  kBaseline,  // supported by every CPU of the architecture
  kAvx2,      // 32 bytes, with fused multiply-add
  kAvx3,      // 64 bytes: AVX-512 F, BW, CD, DQ, VL
};

#if defined(__x86_64__)
// Returns whether CPUID reports the feature [mask] in ECX of this leaf.
inline bool hasFeature(unsigned leaf, unsigned mask) {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx & mask) != 0;
}
#endif

// Returns the best kind that this CPU supports.
inline VectorTarget vectorTarget() {
#if defined(__x86_64__)
  static const VectorTarget target = [] {
    __builtin_cpu_init();
    // Not every compiler's __builtin_cpu_supports knows the last two by name. They use the registers of avx2.
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && hasFeature(1, bit_F16C) &&
                          hasFeature(0x80000001, bit_LZCNT);
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
