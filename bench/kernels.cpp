// boxcar's kernels; torch_kernels.cpp has libtorch's.

#include <benchmark/benchmark.h>
#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/ops.h>

#include <initializer_list>

using boxcar::Tensor;
namespace ops = boxcar;

namespace {

constexpr char kPeer[] = "/boxcar";
void useThreads(int count) { boxcar::cpu::setThreadCount(count); }
Tensor random(std::initializer_list<int64_t> sizes) {
  const Tensor even = boxcar::rand(sizes);
  return boxcar::sub(boxcar::mul(even, 4), 2);
}
Tensor places(int64_t count) { return boxcar::argsort(boxcar::rand({count})); }
class Session {};

}  // namespace

#include "bench/kernel_benchmark.h"
//
#include "bench/kernel_cases.h"
