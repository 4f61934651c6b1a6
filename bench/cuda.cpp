// The cost of calls, kernels and whole models on the machine's first CUDA device. bench/cuda_table.py runs this program
// and the same measurements in PyTorch, and prints both. Usage: boxcar_cuda_bench MODELS [--benchmark_OPTION ...],
// where MODELS is the folder bench/models.

#include <benchmark/benchmark.h>
#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ops.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace boxcar::bench {
namespace {

using Sizes = std::vector<int64_t>;
using Clock = std::chrono::steady_clock;

constexpr Device kCuda(DeviceType::CUDA, 0);

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Tensor random(const Sizes& sizes, ScalarType dtype = ScalarType::Float) {
  return boxcar::to(boxcar::randn(sizes, std::nullopt, std::nullopt, kCuda), dtype);
}

// Measures the time of [call], including its work on the device; waits once for every [rounds] calls.
void wholeTime(benchmark::State& state, int rounds, const std::function<void()>& call) {
  for (int i = 0; i < 3; ++i) call();
  cuda::synchronize();
  for (auto _ : state) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < rounds; ++i) call();
    cuda::synchronize();
    state.SetIterationTime(since(begin) / rounds);
  }
}

void registerTimed(const char* name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name, run)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(1);
}
void registerWhole(const char* name, const std::function<std::function<void()>()>& setUp) {
  registerTimed(name, [setUp](benchmark::State& state) {
    manualSeed(1);
    wholeTime(state, 20, setUp());
  });
}

// Measures few enough calls to fit into the device's queue.
void queuedTime(benchmark::State& state) {
  constexpr int kCalls = 500;
  const Tensor a = random({2});
  const Tensor b = random({2});
  for (int i = 0; i < kCalls; ++i) boxcar::add(a, b);
  for (auto _ : state) {
    cuda::synchronize();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) benchmark::DoNotOptimize(boxcar::add(a, b));
    state.SetIterationTime(since(begin) / kCalls);
  }
}

// [text] has the script's function step() and the code that calls it.
void runChain(benchmark::State& state, const char* text) {
  Program program = Program::compile(text, "chain.ops");
  program.run();
  const auto run = program.function("run");
  wholeTime(state, 1, [&] {
    Stack stack;
    push(stack, random({8, 64}));
    run.call(stack);
  });
}

constexpr const char* kChain = R"(
fn step(Tensor x) -> Tensor {
  y = x
  for i in range(500) { y = (y * 1.001).relu() }
  return y
}
fn run(Tensor x) -> Tensor { return step(x) }
)";
constexpr const char* kChainAsGraph = R"(
fn step(Tensor x) -> Tensor {
  y = x
  for i in range(500) { y = (y * 1.001).relu() }
  return y
}
fn run(Tensor x) -> Tensor {
  with cuda_graph() { return step(x) }
}
)";

// Calls [function] of a model, which gets the values that [makeInputs] leaves on the stack.
void runModel(benchmark::State& state, const std::string& file, const std::string& function,
              const std::function<void(const Program&, Stack&)>& makeInputs) {
  manualSeed(1);
  const Program program = Program::load(file);
  program.run();
  Stack inputs;
  makeInputs(program, inputs);
  const auto run = program.function(function);
  wholeTime(state, 10, [&] {
    Stack stack = inputs;
    run.call(stack);
  });
}

void registerModels(const std::string& folder) {
  const Tensor like = random({1}, ScalarType::BFloat16);
  for (const bool as_graph : {false, true}) {
    const char* const function = as_graph ? "scores_as_graph" : "scores";
    const char* const how = as_graph ? ", as a CUDA graph" : "";
    for (const int64_t batch : {1, 64}) {
      registerTimed(fmt::format("ResNet-50, batch {}{}", batch, how).c_str(), [=](benchmark::State& state) {
        runModel(state, folder + "/resnet50.ops", function, [=](const Program& program, Stack& stack) {
          push(stack, batch, like);
          program.function("model").call(stack);
        });
      });
    }
    for (const bool is_prompt : {true, false}) {
      const char* const what = is_prompt ? "a prompt of 1,024" : "a token after 512";
      registerTimed(fmt::format("GPT of 12 layers, {}{}", what, how).c_str(), [=](benchmark::State& state) {
        runModel(state, folder + "/gpt.ops", function, [=](const Program& program, Stack& stack) {
          push(stack, boxcar::randint(50257, Sizes{1, is_prompt ? 1024 : 1}, std::nullopt, std::nullopt, kCuda));
          Stack made;
          push(made, like);
          program.function("weights").call(made);
          push(stack, pop(made));
          push(made, is_prompt ? 0 : 512, like);
          program.function("cache_of").call(made);
          push(stack, pop(made));
        });
      });
    }
  }
}

constexpr int64_t kLarge = int64_t{64} << 20;  // float32 elements: 256 MB

void registerAll() {
  registerTimed("add of 2 elements, queued", queuedTime);
  registerTimed("1,000 operators of a script", [](benchmark::State& state) { runChain(state, kChain); });
  registerTimed("the same as a CUDA graph", [](benchmark::State& state) { runChain(state, kChainAsGraph); });
  registerWhole("copy 256 MB",
                [] { return [x = random({kLarge}), y = random({kLarge})]() mutable { boxcar::copy_(y, x); }; });
  registerWhole("relu 256 MB",
                [] { return [x = random({kLarge}), y = random({kLarge})]() mutable { boxcar::relu_out(y, x); }; });
  registerWhole("sum 256 MB", [] { return [x = random({kLarge})] { boxcar::sum(x); }; });
  registerWhole("softmax 8192 x 8192", [] { return [x = random({8192, 8192})] { boxcar::softmax(x, 1); }; });
  registerWhole("layer_norm 8192 x 8192", [] {
    return [x = random({8192, 8192}), w = random({8192}), b = random({8192})] {
      boxcar::layer_norm(x, Sizes{8192}, w, b);
    };
  });
  registerWhole("mm 8192 bfloat16", [] {
    return [a = random({8192, 8192}, ScalarType::BFloat16), b = random({8192, 8192}, ScalarType::BFloat16)] {
      boxcar::mm(a, b);
    };
  });
  registerWhole("conv2d 3x3 bfloat16", [] {
    return [x = random({32, 256, 56, 56}, ScalarType::BFloat16), w = random({256, 256, 3, 3}, ScalarType::BFloat16)] {
      boxcar::conv2d(x, w, std::nullopt, Sizes{1}, Sizes{1});
    };
  });
  registerWhole("attention 2048 bfloat16", [] {
    const Tensor x = random({4, 16, 2048, 64}, ScalarType::BFloat16);
    return [x] { boxcar::scaled_dot_product_attention(x, x, x); };
  });
  registerWhole("sort 16M float32", [] { return [x = random({int64_t{16} << 20})] { boxcar::sort(x); }; });
  registerWhole("cumsum 16M float32", [] { return [x = random({int64_t{16} << 20})] { boxcar::cumsum(x, 0); }; });
}

}  // namespace
}  // namespace boxcar::bench

int main(int argc, char** argv) {
  if (!boxcar::cuda::is_available()) {
    std::fprintf(stderr, "boxcar_cuda_bench: there is no CUDA device; `boxcar --version` tells why\n");
    return 77;
  }
  benchmark::Initialize(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "boxcar_cuda_bench: name the folder of the models, bench/models, and nothing else\n");
    return 2;
  }
  boxcar::bench::registerAll();
  boxcar::bench::registerModels(argv[1]);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
