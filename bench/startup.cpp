// How long `boxcar run` of an empty script takes, from the call to its end.

#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

extern char** environ;

namespace boxcar::bench {
namespace {

void emptyScript(benchmark::State& state) {
  std::string path = "/tmp/boxcar_bench_XXXXXX";
  const int file = mkstemp(path.data());
  if (file < 0) {
    state.SkipWithError("cannot write to /tmp");
    return;
  }
  std::string program = BOXCAR_PROGRAM;
  std::string command = "run";
  char* const arguments[] = {program.data(), command.data(), path.data(), nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    int status = -1;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("the program could not be run");
      break;
    }
  }
  std::remove(path.c_str());
}
BENCHMARK(emptyScript)->Name("run_of_an_empty_script/boxcar")->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace boxcar::bench
