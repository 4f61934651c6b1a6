// libtorch's kernels; kernels.cpp has boxcar's.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <initializer_list>

using at::Tensor;
namespace ops = at;

namespace {

constexpr char kPeer[] = "/libtorch";
void useThreads(int count) { at::set_num_threads(count); }
Tensor random(std::initializer_list<int64_t> sizes) { return at::rand(at::IntArrayRef(sizes)) * 4 - 2; }
Tensor places(int64_t count) { return at::argsort(at::rand({count})); }
using Session = c10::InferenceMode;

}  // namespace

#include "bench/kernel_benchmark.h"
//
#include "bench/kernel_cases.h"
