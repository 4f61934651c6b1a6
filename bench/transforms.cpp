// What a level of the dispatcher adds to calls that need nothing of it: autocast where nothing is cast, and a trace of
// a program without writes. Each round runs the work with and without the level in turns, and its time is the
// difference, so that changes in the machine's speed do not count.

#include <benchmark/benchmark.h>
#include <boxcar/backends/transforms/autocast.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ops.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace boxcar::bench {
namespace {

// Of this thread: others may use the processor, too.
double processorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Run>
double secondsOf(const Run& run) {
  const double start = processorSeconds();
  run();
  return processorSeconds() - start;
}

// The differences are too short to decide how often to measure them.
constexpr int kRounds = 5;

double medianOf(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Measures the seconds that [with] takes more than [without]: the median of [pairs] differences, for one of [calls].
template <class With, class Without>
void measureAdded(benchmark::State& state, int pairs, int calls, const With& with, const Without& without) {
  for (auto _ : state) {
    std::vector<double> differences;
    for (int i = 0; i < pairs; ++i) {
      const double plain = secondsOf(without);
      differences.push_back(secondsOf(with) - plain);
    }
    state.SetIterationTime(std::max(medianOf(std::move(differences)), 0.0) / calls);
  }
}

// Of [call], in a region where none of its arguments is cast.
template <class Call>
void autocastAdds(benchmark::State& state, const Call& call) {
  constexpr int kCalls = 200;
  const auto repeat = [&] {
    for (int i = 0; i < kCalls; ++i) call();
  };
  const auto inRegion = [&] {
    const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16);
    repeat();
  };
  // A region without work: its own cost is not that of a call.
  const auto besideRegion = [&] {
    { const autocast::AutocastGuard region(DeviceType::CPU, ScalarType::BFloat16); }
    repeat();
  };
  inRegion();  // registers the kernels
  measureAdded(state, 25, kCalls, inRegion, besideRegion);
}

Tensor square(ScalarType dtype) { return ones({2, 2}, dtype); }

void typedCall(benchmark::State& state) {
  const Tensor a = square(ScalarType::BFloat16);
  autocastAdds(state, [&] { benchmark::DoNotOptimize(mm(a, a)); });
}
BENCHMARK(typedCall)->Name("autocast_on_two_tensors/boxcar")->UseManualTime()->Iterations(kRounds);

void typedListCall(benchmark::State& state) {
  const std::vector<Tensor> tensors(2, square(ScalarType::Float));
  autocastAdds(state, [&] { benchmark::DoNotOptimize(cat(tensors)); });
}
BENCHMARK(typedListCall)->Name("autocast_on_a_list/boxcar")->UseManualTime()->Iterations(kRounds);

template <class... Args>
void boxedCall(benchmark::State& state, const char* name, const Args&... args) {
  const OperatorHandle op = Dispatcher::singleton().findSchemaOrThrow(name, "");
  Stack stack;
  autocastAdds(state, [&] {
    push(stack, args...);
    op.callBoxed(stack);
    stack.clear();
  });
}
void boxedTwoTensors(benchmark::State& state) {
  const Tensor a = square(ScalarType::BFloat16);
  boxedCall(state, "aten::mm", a, a);
}
BENCHMARK(boxedTwoTensors)->Name("autocast_on_a_boxed_call/boxcar")->UseManualTime()->Iterations(kRounds);
void boxedList(benchmark::State& state) {
  List<Tensor> tensors;
  for (int i = 0; i < 2; ++i) tensors.push_back(square(ScalarType::Float));
  boxedCall(state, "aten::cat", tensors, int64_t{0});
}
BENCHMARK(boxedList)->Name("autocast_on_a_boxed_list/boxcar")->UseManualTime()->Iterations(kRounds);

// A trace of 10,000 calls, half of which write.
std::string tracedScript(const std::string& path, const std::string& scope) {
  return "fn work() -> () {\n    x = ones(8)\n    for i in range(5000) {\n        y = x.mul(0.5)\n        "
         "y.add_(1.0)\n    "
         "}\n}\n"
         "with trace(\"" +
         path + "\") {\n    " + scope + "\n}\n";
}

void functionalTrace(benchmark::State& state) {
  const std::string path = "/tmp/boxcar_bench_" + std::to_string(getpid()) + ".ops";
  Program plain = Program::compile(tracedScript(path, "work()"), "plain.ops");
  Program functional = Program::compile(tracedScript(path, "with functionalize() { work() }"), "functional.ops");
  measureAdded(
      state, 3, 1, [&] { functional.run(); }, [&] { plain.run(); });
  std::remove(path.c_str());
}
BENCHMARK(functionalTrace)
    ->Name("functionalize_10000_calls/boxcar")
    ->UseManualTime()
    ->Iterations(kRounds)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace boxcar::bench
