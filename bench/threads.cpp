// Whether calls on several threads get in each other's way. A program of its own: where a process has had a second
// thread, references are counted by atomic instructions for the rest of its life, and other benchmarks would pay for
// it.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "bench/no_op.h"

namespace boxcar::bench {
namespace {

double threadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// 400,000 calls, half of them boxed, shared between [threads] threads, each with tensors of its own. Twice the threads
// should take half the time; the peer is one thread that does all. The time is that which the slowest thread spent on a
// processor: what a thread waits for one, because others use the machine, says nothing of the calls.
void onThreads(benchmark::State& state, int threads) {
  constexpr int kCalls = 400000;
  const OperatorHandle op = noOpHandle();
  const auto typed_op = op.typed<void(const Tensor&, const Tensor&)>();
  const auto work = [&](double& seconds) {
    const Tensor a = twoElements();
    const Tensor b = twoElements();
    Stack stack;
    const double start = threadSeconds();
    for (int i = 0; i < kCalls / 2 / threads; ++i) {
      typed_op.call(a, b);
      push(stack, a, b);
      op.callBoxed(stack);
    }
    seconds = threadSeconds() - start;
  };
  for (auto _ : state) {
    std::vector<double> seconds(static_cast<size_t>(threads));
    std::vector<std::thread> workers;
    for (double& own : seconds) workers.emplace_back(work, std::ref(own));
    for (std::thread& worker : workers) worker.join();
    state.SetIterationTime(*std::max_element(seconds.begin(), seconds.end()));
  }
}
BENCHMARK_CAPTURE(onThreads, two, 2)
    ->Name("calls_on_two_threads/boxcar")
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(onThreads, one, 1)
    ->Name("calls_on_two_threads/one thread")
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace boxcar::bench
