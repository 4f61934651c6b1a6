#pragma once

#include <benchmark/benchmark.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>

#include <vector>

// The measured operator, whose kernel does nothing. Include this in only one source of a program, where it is
// registered.

namespace boxcar::bench {

[[gnu::noinline]] inline void noOp(const Tensor& a, const Tensor& b) {
  benchmark::DoNotOptimize(&a);
  benchmark::DoNotOptimize(&b);
}

BOXCAR_LIBRARY(bench, m) { m.def("no_op(Tensor a, Tensor b) -> ()"); }
BOXCAR_LIBRARY_IMPL(bench, CPU, m) { m.impl("no_op", BOXCAR_FN(noOp)); }

inline Tensor twoElements() { return Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float); }

inline OperatorHandle noOpHandle() { return Dispatcher::singleton().findSchemaOrThrow("bench::no_op", ""); }

}  // namespace boxcar::bench
