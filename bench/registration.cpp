// The cost of registering an operator.

#include <benchmark/benchmark.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/schema/parse_schema.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace boxcar::bench {
namespace {

constexpr const char* kSchema =
    "aten::linalg_norm.out(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
    "dtype=None, Tensor(a!) out) -> Tensor(a!)";

void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parseSchema(kSchema));
}
BENCHMARK(parse)->Name("parse_schema/boxcar");

Tensor first(const Tensor& a, const Tensor&) { return a; }

// Each operator has a unique name; removing operators is not timed.
void defineAndImplement(benchmark::State& state) {
  static int count = 0;
  std::vector<std::string> schemas(1000);
  std::vector<std::string> names(1000);
  for (auto _ : state) {
    state.PauseTiming();
    for (size_t i = 0; i < names.size(); ++i) {
      names[i] = fmt::format("op_{}", count++);
      schemas[i] = names[i] + "(Tensor a, Tensor b) -> Tensor";
    }
    auto definitions = std::make_unique<Library>(Library::FRAGMENT, "bench_def", std::nullopt, __FILE__, __LINE__);
    auto kernels = std::make_unique<Library>(Library::IMPL, "bench_def", DispatchKey::CPU, __FILE__, __LINE__);
    state.ResumeTiming();
    for (size_t i = 0; i < names.size(); ++i) {
      definitions->def(schemas[i]);
      kernels->impl(names[i], BOXCAR_FN(first));
    }
    state.PauseTiming();
    kernels.reset();
    definitions.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(defineAndImplement)->Name("define_1000_operators/boxcar")->Iterations(5);

}  // namespace
}  // namespace boxcar::bench
