#include <boxcar/dispatcher/handlers/cost/machine_ceilings.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

namespace boxcar {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr auto kBurst = std::chrono::milliseconds(8);
constexpr int kBursts = 3;
constexpr size_t kCopyBytes = size_t{24} << 20;

// Does [rounds] multiplications and additions in each element of enough registers to hide their latency. Returns the
// number of operations. The sums are stored, so that the compiler removes nothing.
template <int bytes, int chains>
[[gnu::always_inline]] inline double multiplyAndAdd(int64_t rounds, volatile float* kept) {
  constexpr int kWidth = bytes / static_cast<int>(sizeof(float));
  typedef float Vector __attribute__((vector_size(bytes)));
  const Vector factor = Vector{} + 0.5F;
  Vector sums[chains];
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) sums[i] = factor + static_cast<float>(i);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < chains; ++i) sums[i] = sums[i] * factor + factor;
  }
#pragma GCC unroll 16
  for (int i = 0; i < chains; ++i) *kept = sums[i][0];
  return 2.0 * kWidth * chains * static_cast<double>(rounds);
}

using Burst = double (*)(int64_t rounds, volatile float* kept);

double plainBurst(int64_t rounds, volatile float* kept) { return multiplyAndAdd<16, 8>(rounds, kept); }

#ifdef __x86_64__
// The file is compiled so that a multiplication and an addition become one instruction where the CPU has one.
[[gnu::target("avx2,fma")]] double avx2Burst(int64_t rounds, volatile float* kept) {
  return multiplyAndAdd<32, 12>(rounds, kept);
}
[[gnu::target("avx512f")]] double avx512Burst(int64_t rounds, volatile float* kept) {
  return multiplyAndAdd<64, 16>(rounds, kept);
}
#endif

Burst chooseBurst() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return &avx512Burst;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2Burst;
#endif
  return &plainBurst;
}

// Returns operations per second, the best of several bursts.
double flopsOfThisThread(Burst burst) {
  constexpr int64_t kRounds = 20'000;
  volatile float kept = 0;
  double best = 0;
  for (int i = 0; i < kBursts; ++i) {
    const Clock::time_point begin = Clock::now();
    double operations = 0;
    Clock::time_point end = begin;
    for (; end - begin < kBurst; end = Clock::now()) operations += burst(kRounds, &kept);
    best = std::max(best, operations / Seconds(end - begin).count());
  }
  return best;
}

double flopsOfAll(Burst burst, size_t cores) {
  std::vector<double> flops(cores);
  std::barrier together(static_cast<std::ptrdiff_t>(cores));
  std::vector<std::jthread> threads;
  const auto measure = [&](size_t i) {
    together.arrive_and_wait();
    flops[i] = flopsOfThisThread(burst);
  };
  for (size_t i = 1; i < cores; ++i) {
    try {
      threads.emplace_back(measure, i);
    } catch (const std::system_error&) {
      // Measure with fewer threads, and leave the barrier for the missing one.
      together.arrive_and_drop();
    }
  }
  measure(0);
  threads.clear();
  double sum = 0;
  for (const double value : flops) sum += value;
  return sum;
}

double bytesOfThisThread() {
  // Initialised, and so resident in memory, before the measurement.
  const std::vector<char> source(kCopyBytes, 1);
  std::vector<char> target(kCopyBytes, 2);
  double best = 0;
  for (int i = 0; i < kBursts; ++i) {
    const Clock::time_point begin = Clock::now();
    std::memcpy(target.data(), source.data(), kCopyBytes);
    asm volatile("" : : "r"(target.data()) : "memory");
    best = std::max(best, 2.0 * kCopyBytes / Seconds(Clock::now() - begin).count());
  }
  return best;
}

MachineCeilings measure() {
  const Burst burst = chooseBurst();
  MachineCeilings ceilings;
  ceilings.cores = std::max(1U, std::thread::hardware_concurrency());
  ceilings.flops_of_one = flopsOfThisThread(burst);
  ceilings.flops_of_all = ceilings.cores == 1 ? ceilings.flops_of_one : flopsOfAll(burst, ceilings.cores);
  ceilings.bytes_of_one = bytesOfThisThread();
  return ceilings;
}

}  // namespace

const MachineCeilings& machineCeilings() {
  static const MachineCeilings ceilings = measure();
  return ceilings;
}

}  // namespace boxcar
