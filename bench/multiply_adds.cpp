// The upper bound for matrix products and convolutions that do every multiplication of their definition: as many
// multiply-adds in a loop that does nothing else, in registers.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>

namespace {

constexpr int64_t kOfMm = int64_t{512} * 512 * 512;              // 512×512 by 512×512
constexpr int64_t kOfConv = int64_t{64} * 64 * 3 * 3 * 56 * 56;  // 64 to 64 channels, 3×3, 56×56

// Enough concurrent sums to hide the latency of one.
constexpr int64_t kSums = 12;
using Sums = std::make_index_sequence<kSums>;

// Makes the compiler assume that the sum is read and changed here.
[[gnu::target("avx512f")]] inline void keep(__m512& sum) { asm volatile("" : "+v"(sum)); }
[[gnu::target("avx2,fma")]] inline void keep(__m256& sum) { asm volatile("" : "+x"(sum)); }

template <size_t... I>
[[gnu::target("avx512f")]] void wide(int64_t count, std::index_sequence<I...>) {
  const __m512 factor = _mm512_set1_ps(0.5F);
  __m512 sums[] = {_mm512_set1_ps(static_cast<float>(I))...};
  for (; count > 0; count -= 16 * kSums) ((sums[I] = _mm512_fmadd_ps(sums[I], factor, factor), keep(sums[I])), ...);
}

template <size_t... I>
[[gnu::target("avx2,fma")]] void narrow(int64_t count, std::index_sequence<I...>) {
  const __m256 factor = _mm256_set1_ps(0.5F);
  __m256 sums[] = {_mm256_set1_ps(static_cast<float>(I))...};
  for (; count > 0; count -= 8 * kSums) ((sums[I] = _mm256_fmadd_ps(sums[I], factor, factor), keep(sums[I])), ...);
}

// Registers nothing if the CPU has no multiply-add instructions.
[[maybe_unused]] const bool registered = [] {
  const bool is_wide = __builtin_cpu_supports("avx512f");
  if (!is_wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return false;
  const auto add = [is_wide](const char* name, int64_t count) {
    benchmark::RegisterBenchmark(name, [is_wide, count](benchmark::State& state) {
      for (auto _ : state) is_wide ? wide(count, Sums()) : narrow(count, Sums());
    });
  };
  add("multiply_adds_of_mm_512/boxcar", kOfMm);
  add("multiply_adds_of_conv/boxcar", kOfConv);
  return true;
}();

}  // namespace
#endif
