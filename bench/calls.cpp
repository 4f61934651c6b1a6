// The cost of a call on every path, for a kernel that does nothing with two CPU tensors.

#include <benchmark/benchmark.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <vector>

#include "bench/no_op.h"

namespace boxcar::bench {
namespace {

void redispatch(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  op.redispatchBoxed(keys.remove(DispatchKey::TESTING_ONLY_GenericMode), stack);
}

BOXCAR_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, m) { m.fallback(CppFunction::makeFromBoxedFunction<&redispatch>()); }

void direct(benchmark::State& state) {
  const Tensor a = twoElements();
  const Tensor b = twoElements();
  for (auto _ : state) noOp(a, b);
}
BENCHMARK(direct)->Name("direct_call/boxcar");

void typed(benchmark::State& state) {
  const auto op = noOpHandle().typed<void(const Tensor&, const Tensor&)>();
  const Tensor a = twoElements();
  const Tensor b = twoElements();
  for (auto _ : state) op.call(a, b);
}
BENCHMARK(typed)->Name("typed_call/boxcar");

void boxed(benchmark::State& state) {
  const OperatorHandle op = noOpHandle();
  const Tensor a = twoElements();
  const Tensor b = twoElements();
  Stack stack;
  for (auto _ : state) {
    push(stack, a, b);
    op.callBoxed(stack);
  }
}
BENCHMARK(boxed)->Name("boxed_call/boxcar");

void typedThroughFallback(benchmark::State& state) {
  const IncludeDispatchKeyGuard guard(DispatchKey::TESTING_ONLY_GenericMode);
  typed(state);
}
BENCHMARK(typedThroughFallback)->Name("typed_call_through_fallback/boxcar");

void boxedThroughFallback(benchmark::State& state) {
  const IncludeDispatchKeyGuard guard(DispatchKey::TESTING_ONLY_GenericMode);
  boxed(state);
}
BENCHMARK(boxedThroughFallback)->Name("boxed_call_through_fallback/boxcar");

}  // namespace
}  // namespace boxcar::bench
