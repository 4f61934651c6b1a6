// Calls a model's function on several threads at once: sharing SCRIPT THREADS MODELS SECONDS. SCRIPT has a function
// `forward()`; each of the MODELS threads has a Program of its own, whose kernels use THREADS threads. Prints the
// milliseconds of each call. sharing.py runs it.

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/stack.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// Returns the milliseconds of each call. All models start to be measured at once.
std::vector<double> callsOf(const char* script, double seconds, std::latch& ready) {
  const boxcar::Program program = boxcar::Program::load(script);
  program.run();
  const boxcar::Program::Function forward = program.function("forward");
  boxcar::Stack stack;
  const auto call = [&] {
    forward.call(stack);
    stack.clear();
  };
  call();
  std::vector<double> times;
  ready.arrive_and_wait();
  for (const auto begin = Clock::now(); Clock::now() - begin < std::chrono::duration<double>(seconds);) {
    const auto start = Clock::now();
    call();
    times.push_back(Milliseconds(Clock::now() - start).count());
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: boxcar_sharing SCRIPT THREADS MODELS SECONDS\n", stderr);
    return 2;
  }
  boxcar::cpu::setThreadCount(std::atoi(argv[2]));
  const int models = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  std::latch ready(models);
  std::vector<std::vector<double>> times(models);
  std::vector<std::jthread> threads;
  for (int model = 0; model < models; ++model) {
    threads.emplace_back([&, model] {
      try {
        times[model] = callsOf(argv[1], seconds, ready);
      } catch (const std::exception& fault) {
        std::fprintf(stderr, "boxcar_sharing: %s\n", fault.what());
        std::_Exit(1);
      }
    });
  }
  threads.clear();
  for (const auto& each : times) {
    for (const double time : each) std::printf("%.4f\n", time);
  }
}
