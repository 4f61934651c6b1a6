// The cost of an operator call and of a plain loop in the interpreter. Times are for a whole run of 100,000 iterations.

#include <benchmark/benchmark.h>
#include <boxcar/interpreter/session/program.h>

#include <string>

#include "bench/long_script.h"

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

// What bench/python_calls.py compares a call from Python with.
void functionCall(benchmark::State& state) {
  Program program = Program::compile("fn second(Tensor a, Tensor b) -> Tensor { return b }", "bench.ops");
  program.run();
  const Program::Function second = program.function("second");
  const Tensor a = Tensor::allocate({}, ScalarType::Float);
  const Tensor b = Tensor::allocate({}, ScalarType::Float);
  Stack stack;
  for (auto _ : state) {
    push(stack, a, b);
    second.call(stack);
    benchmark::DoNotOptimize(pop(stack));
  }
}
BENCHMARK(functionCall)->Name("script_function_of_two_tensors/boxcar");

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

void forRange(benchmark::State& state) {
  runScript(state, R"(
fn sum_of_squares(int n) -> int {
    acc = 0
    for i in range(n) { acc = acc + i*i }
    return acc
}
assert sum_of_squares(100000) == 333328333350000
)");
}
BENCHMARK(forRange)->Name("script_for_range_100000_rounds/boxcar")->Unit(benchmark::kMicrosecond);

void functionCalls(benchmark::State& state) {
  runScript(state, R"(
fn add(int a, int b) -> int { return a + b }
fn total(int n) -> int {
    acc = 0
    for i in range(n) { acc = add(acc, i) }
    return acc
}
assert total(100000) == 4999950000
)");
}
BENCHMARK(functionCalls)->Name("script_100000_function_calls/boxcar")->Unit(benchmark::kMicrosecond);

void fibonacci(benchmark::State& state) {
  runScript(state, R"(
fn fib(int n) -> int {
    if n < 2 { return n }
    return fib(n - 1) + fib(n - 2)
}
assert fib(22) == 17711
)");
}
BENCHMARK(fibonacci)->Name("script_fib_22/boxcar")->Unit(benchmark::kMicrosecond);

void compilation(benchmark::State& state) {
  const std::string text = functionsOfTenLines(1000);
  for (auto _ : state) benchmark::DoNotOptimize(Program::compile(text, "bench.ops"));
}
BENCHMARK(compilation)->Name("compile_10000_lines/boxcar")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace boxcar::bench
