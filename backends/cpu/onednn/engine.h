#pragma once

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>
#include <boxcar/ivalue/tensor.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace boxcar::cpu::onednn {

// Returns the CPU engine, of which there is one.
const dnnl::engine& engine();

// Returns the calling thread's stream. Submitted work is complete when the call returns.
dnnl::stream& stream();

// With fewer multiply-adds, one thread finishes in about 10 microseconds, before a second one has woken up.
inline constexpr double kLeastShared = 1 << 19;

// Hold one while creating or running a primitive: oneDNN then uses as many threads as kernels do, and one thread if
// there is little work. The thread count is part of the primitive's key, because the work is divided when the primitive
// is created.
class Threads final {
 public:
  explicit Threads(double multiply_adds) : Threads(multiply_adds < kLeastShared ? 1 : threadCount()) {}
  int count() const { return count_; }

 private:
  explicit Threads(int count) : count_(count), scope_(count) {}

  int count_;
  LibraryThreads scope_;
};

// Returns float32, bfloat16, float16, int32, int8 or uint8; undef for types that oneDNN does not support.
dnnl::memory::data_type dataTypeOf(ScalarType type);

// Whether products of bfloat16 are fast. On lesser CPUs, they are emulated, and float32 is faster.
bool multipliesBFloat16();

// Returns a description with the sizes and strides of [tensor].
dnnl::memory::desc descriptionOf(const Tensor& tensor);

// Returns the memory of [tensor], without a copy, as laid out by [description].
dnnl::memory memoryOf(const Tensor& tensor, const dnnl::memory::desc& description);

}  // namespace boxcar::cpu::onednn
