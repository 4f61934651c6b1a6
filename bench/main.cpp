// Runs all benchmarks interleaved, so that changes in the machine's speed affect boxcar and its peers alike, and prints
// the ratios. All options are Google Benchmark's: --benchmark_filter=typed_call, --benchmark_format=json …
//
// boxcar counts references with plain instructions until the process has a second thread. This program has one from the
// start, like most programs that embed boxcar; otherwise it would be up to chance which benchmarks run before the first
// one with threads.

#include <benchmark/benchmark.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/ratio_reporter.h"

int main(int argc, char** argv) {
  std::vector<std::string> defaults = {argv[0], "--benchmark_repetitions=5", "--benchmark_min_time=0.05",
                                       "--benchmark_enable_random_interleaving=true",
                                       "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments;
  for (std::string& argument : defaults) arguments.push_back(argument.data());
  bool other_format = false;
  for (int i = 1; i < argc; ++i) {
    arguments.push_back(argv[i]);
    const std::string_view argument = argv[i];
    other_format |= argument.starts_with("--benchmark_format") && argument != "--benchmark_format=console";
  }
  int count = static_cast<int>(arguments.size());
  std::mutex mutex;
  const std::jthread second([&mutex](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, stop, [] { return false; });
  });
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  boxcar::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(other_format ? nullptr : &reporter);
  benchmark::Shutdown();
  return 0;
}
