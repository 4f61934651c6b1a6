#pragma once

// The benchmarks that KERNEL and SHARED of kernel_cases.h define.

#include <benchmark/benchmark.h>

#include <string>

namespace {

// One thread is measured by CPU time, which other users of the machine disturb least.
inline benchmark::internal::Benchmark* timed(benchmark::internal::Benchmark* kernel, int threads) {
  return threads == 1 ? kernel : kernel->UseRealTime();
}

}  // namespace

#define KERNEL(name, setup, call) KERNEL_WITH_THREADS(name, 1, "", setup, call)
#define SHARED(name, setup, call)               \
  KERNEL_WITH_THREADS(name, 1, "", setup, call) \
  KERNEL_WITH_THREADS(name, 2, "_2_threads", setup, call)

#define KERNEL_WITH_THREADS(name, threads, suffix, setup, call)                          \
  void name##_##threads(benchmark::State& state) {                                       \
    [[maybe_unused]] const Session session;                                              \
    useThreads(threads);                                                                 \
    setup;                                                                               \
    for (auto _ : state) benchmark::DoNotOptimize(call);                                 \
  }                                                                                      \
  [[maybe_unused]] benchmark::internal::Benchmark* const registered_##name##_##threads = \
      timed(benchmark::RegisterBenchmark((std::string(#name) + suffix + kPeer).c_str(), name##_##threads), threads);
