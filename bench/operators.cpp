// Small tensors, where dispatch and allocation are what an operator costs.

#include <benchmark/benchmark.h>
#include <boxcar/ops.h>

namespace boxcar::bench {
namespace {

void addTwo(benchmark::State& state) {
  const Tensor a = ones({2});
  const Tensor b = ones({2});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(addTwo)->Name("add_2_elements/boxcar");

void mmEight(benchmark::State& state) {
  const Tensor a = ones({8, 8});
  const Tensor b = ones({8, 8});
  for (auto _ : state) benchmark::DoNotOptimize(mm(a, b));
}
BENCHMARK(mmEight)->Name("mm_8x8/boxcar");

}  // namespace
}  // namespace boxcar::bench
