// The same paths in libtorch: dispatch, registration, TorchScript.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/ir/irparser.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/jit.h>
#include <torch/library.h>
#include <torch/script.h>

#include <memory>
#include <string>
#include <vector>

namespace {

__attribute__((noinline)) void noOp(const at::Tensor& a, const at::Tensor& b) {
  benchmark::DoNotOptimize(&a);
  benchmark::DoNotOptimize(&b);
}

void redispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  op.redispatchBoxed(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::TESTING_ONLY_GenericMode), stack);
}

TORCH_LIBRARY(bench, m) { m.def("no_op(Tensor a, Tensor b) -> ()"); }
TORCH_LIBRARY_IMPL(bench, CPU, m) { m.impl("no_op", TORCH_FN(noOp)); }
TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&redispatch>());
}

c10::OperatorHandle noOpHandle() { return c10::Dispatcher::singleton().findSchemaOrThrow("bench::no_op", ""); }

void typed(benchmark::State& state) {
  const auto op = noOpHandle().typed<void(const at::Tensor&, const at::Tensor&)>();
  const at::Tensor a = at::ones({2});
  const at::Tensor b = at::ones({2});
  for (auto _ : state) op.call(a, b);
}
BENCHMARK(typed)->Name("typed_call/libtorch");

void boxed(benchmark::State& state) {
  const c10::OperatorHandle op = noOpHandle();
  const at::Tensor a = at::ones({2});
  const at::Tensor b = at::ones({2});
  torch::jit::Stack stack;
  for (auto _ : state) {
    torch::jit::push(stack, a, b);
    op.callBoxed(&stack);
  }
}
BENCHMARK(boxed)->Name("boxed_call/libtorch");

void typedThroughFallback(benchmark::State& state) {
  const c10::impl::IncludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericMode);
  typed(state);
}
BENCHMARK(typedThroughFallback)->Name("typed_call_through_fallback/libtorch");

void boxedThroughFallback(benchmark::State& state) {
  const c10::impl::IncludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericMode);
  boxed(state);
}
BENCHMARK(boxedThroughFallback)->Name("boxed_call_through_fallback/libtorch");

void parse(benchmark::State& state) {
  const std::string schema =
      "aten::linalg_norm.out(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
      "dtype=None, Tensor(a!) out) -> Tensor(a!)";
  for (auto _ : state) benchmark::DoNotOptimize(torch::jit::parseSchema(schema));
}
BENCHMARK(parse)->Name("parse_schema/libtorch");

at::Tensor first(const at::Tensor& a, const at::Tensor&) { return a; }

void defineAndImplement(benchmark::State& state) {
  static int count = 0;
  std::vector<std::string> schemas(1000);
  std::vector<std::string> names(1000);
  for (auto _ : state) {
    state.PauseTiming();
    for (size_t i = 0; i < names.size(); ++i) {
      names[i] = "op_" + std::to_string(count++);
      schemas[i] = names[i] + "(Tensor a, Tensor b) -> Tensor";
    }
    auto definitions =
        std::make_unique<torch::Library>(torch::Library::FRAGMENT, "bench_def", c10::nullopt, __FILE__, __LINE__);
    auto kernels = std::make_unique<torch::Library>(torch::Library::IMPL, "bench_def",
                                                    c10::make_optional(c10::DispatchKey::CPU), __FILE__, __LINE__);
    state.ResumeTiming();
    for (size_t i = 0; i < names.size(); ++i) {
      definitions->def(schemas[i].c_str());
      kernels->impl(names[i].c_str(), TORCH_FN(first));
    }
    state.PauseTiming();
    kernels.reset();
    definitions.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(defineAndImplement)->Name("define_1000_operators/libtorch")->Iterations(5);

// Built as a graph, because TorchScript source cannot name operators of other libraries.
void operatorCalls(benchmark::State& state) {
  const auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(R"(
graph(%a : Tensor, %b : Tensor, %n : int):
  %true : bool = prim::Constant[value=1]()
  prim::Loop(%n, %true)
    block0(%i : int):
      bench::no_op(%a, %b)
      -> (%true)
  return (%n)
)",
                      graph.get());
  const torch::jit::Code code(graph, "loop");
  const at::Tensor a = at::ones({2});
  const at::Tensor b = at::ones({2});
  for (auto _ : state) {
    torch::jit::Stack stack{a, b, 100000};
    torch::jit::InterpreterState(code).run(stack);
  }
}
BENCHMARK(operatorCalls)->Name("script_100000_operator_calls/libtorch")->Unit(benchmark::kMicrosecond);

void whileLoop(benchmark::State& state) {
  const auto unit = torch::jit::compile(R"(
def sum_of_squares(n: int):
    acc = 0
    i = 0
    while i < n:
        acc = acc + i * i
        i = i + 1
    return acc
)");
  for (auto _ : state) benchmark::DoNotOptimize(unit->run_method("sum_of_squares", 100000));
}
BENCHMARK(whileLoop)->Name("script_while_100000_rounds/libtorch")->Unit(benchmark::kMicrosecond);

}  // namespace
