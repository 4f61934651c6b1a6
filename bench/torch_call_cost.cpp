// Measures in libtorch what tests/cost/call_cost.cpp and memory_cost.cpp measure: the call paths, for callgrind to
// count; the bytes of registered operators; and nothing at all, to time how long a program with libtorch takes to
// start. With instruction counting, libtorch takes minutes to start, so one process runs all paths and counts only
// these: `valgrind --tool=callgrind --instr-atstart=no torch_call_cost calls 1000` dumps the counts of each path.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <malloc.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using TypedHandle = c10::TypedOperatorHandle<void(const at::Tensor&, const at::Tensor&)>;

[[gnu::noinline]] void noOp(const at::Tensor& a, const at::Tensor& b) {
  asm volatile("" : : "r"(&a), "r"(&b) : "memory");
}

void redispatch(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  op.redispatchBoxed(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::TESTING_ONLY_GenericMode), stack);
}

[[gnu::noinline]] void runDirect(const at::Tensor& a, const at::Tensor& b, long count) {
  for (long i = 0; i < count; ++i) noOp(a, b);
}

[[gnu::noinline]] void runTyped(TypedHandle op, const at::Tensor& a, const at::Tensor& b, long count) {
  for (long i = 0; i < count; ++i) op.call(a, b);
}

[[gnu::noinline]] void runBoxed(c10::OperatorHandle op, const at::Tensor& a, const at::Tensor& b, long count) {
  torch::jit::Stack stack;
  for (long i = 0; i < count; ++i) {
    torch::jit::push(stack, a, b);
    op.callBoxed(&stack);
  }
}

size_t bytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

at::Tensor first(const at::Tensor& a, const at::Tensor&, const at::Scalar&) { return a; }

// Counts the bytes of an operator with a definition and a kernel, excluding those of its schema.
void countBytes(size_t count) {
  const auto schema = [](size_t i) {
    return "operator_" + std::to_string(i) + ".Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
  };
  torch::Library m(torch::Library::FRAGMENT, "memory", c10::nullopt, __FILE__, __LINE__);
  m.def("warm(Tensor a) -> Tensor");
  size_t before = bytesInUse();
  for (size_t i = 0; i < count; ++i) {
    m.def(schema(i).c_str());
    m.impl(("operator_" + std::to_string(i) + ".Tensor").c_str(),
           torch::dispatch(c10::DispatchKey::CPU, TORCH_FN(first)));
  }
  const size_t operators = bytesInUse() - before;
  std::vector<c10::FunctionSchema> schemas;
  before = bytesInUse();
  schemas.reserve(count);
  for (size_t i = 0; i < count; ++i) schemas.push_back(torch::jit::parseSchema("memory::" + schema(i)));
  const size_t of_schemas = bytesInUse() - before;
  std::printf("%zu bytes each beside the schema's %zu\n", (operators - of_schemas) / count, of_schemas / count);
}

// Dumps the cost of [count] more calls under the name [path].
template <class Run>
void count(const char* path, Run run) {
  CALLGRIND_START_INSTRUMENTATION;
  run();
  CALLGRIND_ZERO_STATS;
  run();
  CALLGRIND_DUMP_STATS_AT(path);
  CALLGRIND_STOP_INSTRUMENTATION;
}

void countCalls(long calls) {
  const at::Tensor a = at::ones({2});
  const at::Tensor b = at::ones({2});
  const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow("cost::no_op", "");
  const TypedHandle typed = op.typed<void(const at::Tensor&, const at::Tensor&)>();
  count("direct", [&] { runDirect(a, b, calls); });
  count("typed", [&] { runTyped(typed, a, b, calls); });
  count("boxed", [&] { runBoxed(op, a, b, calls); });
  const c10::impl::IncludeDispatchKeyGuard guard(c10::DispatchKey::TESTING_ONLY_GenericMode);
  count("typed_through_fallback", [&] { runTyped(typed, a, b, calls); });
  count("boxed_through_fallback", [&] { runBoxed(op, a, b, calls); });
}

}  // namespace

TORCH_LIBRARY(cost, m) { m.def("no_op(Tensor a, Tensor b) -> ()"); }
TORCH_LIBRARY_IMPL(cost, CPU, m) { m.impl("no_op", TORCH_FN(noOp)); }
TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&redispatch>());
}

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? std::atol(argv[2]) : 0;
  if (what == "start" && argc == 2) return 0;
  if (what == "memory" && count > 0) {
    countBytes(static_cast<size_t>(count));
  } else if (what == "calls" && count > 0) {
    countCalls(count);
  } else {
    std::fprintf(stderr, "usage: torch_call_cost start | calls COUNT | memory COUNT\n");
    return 2;
  }
  return 0;
}
