// Scripts: what an operator call and a plain loop cost in the interpreter. Times are of a whole run of 100,000 rounds.

#include <benchmark/benchmark.h>
#include <boxcar/interpreter/program.h>

namespace boxcar::bench {
namespace {

void runScript(benchmark::State& state, const char* text) {
  Program program = Program::compile(text, "bench.ops");
  for (auto _ : state) program.run();
}

// bench::no_op is defined in calls.cpp.
void operatorCalls(benchmark::State& state) {
  runScript(state, R"(
a = ones([2])
b = ones([2])
for i in range(100000) { bench::no_op(a, b) }
)");
}
BENCHMARK(operatorCalls)->Name("script_100000_operator_calls/boxcar")->Unit(benchmark::kMicrosecond);

void whileLoop(benchmark::State& state) {
  runScript(state, R"(
fn sum_of_squares(int n) -> int {
    acc = 0
    i = 0
    while i < n { acc = acc + i*i; i = i + 1 }
    return acc
}
assert sum_of_squares(100000) == 333328333350000
)");
}
BENCHMARK(whileLoop)->Name("script_while_100000_rounds/boxcar")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace boxcar::bench
