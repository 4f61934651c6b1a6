// The time that `boxcar run` of an empty script takes from start to exit, and the same for a program that is linked
// with libtorch and does nothing.

#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

extern char** environ;

namespace boxcar::bench {
namespace {

void runProgram(benchmark::State& state, std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  for (auto _ : state) {
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("the program could not be run");
      break;
    }
  }
}

void emptyScript(benchmark::State& state) {
  std::string path = "/tmp/boxcar_bench_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) {
    state.SkipWithError("cannot write to /tmp");
    return;
  }
  close(file);  // otherwise every measured program would inherit it
  runProgram(state, {BOXCAR_PROGRAM, "run", path});
  std::remove(path.c_str());
}
BENCHMARK(emptyScript)->Name("run_of_an_empty_script/boxcar")->UseRealTime()->Unit(benchmark::kMillisecond);

#ifdef TORCH_PROGRAM
void emptyTorchProgram(benchmark::State& state) { runProgram(state, {TORCH_PROGRAM, "start"}); }
BENCHMARK(emptyTorchProgram)->Name("run_of_an_empty_script/libtorch")->UseRealTime()->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace boxcar::bench
