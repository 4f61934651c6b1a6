#pragma once

#include <boxcar/backends/cpu/parallel.h>
#include <boxcar/backends/cpu/thread_team.h>
#include <boxcar/ivalue/tensor.h>

#include <oneapi/dnnl/dnnl.hpp>

namespace boxcar::cpu::onednn {

// The one engine of the processor.
const dnnl::engine& engine();

// The calling thread's stream. What is put into it has been done when the call returns.
dnnl::stream& stream();

// Fewer multiply-adds are done sooner than a second thread has been woken: they take one some 10 microseconds.
inline constexpr double kLeastShared = 1 << 19;

// To be held while a primitive is made or run: oneDNN uses as many threads as kernels do, and one where there is little
// to do. That number belongs into the primitive's key, for the work is cut when the primitive is made.
class Threads final {
 public:
  explicit Threads(double multiply_adds) : Threads(multiply_adds < kLeastShared ? 1 : threadCount()) {}
  int count() const { return count_; }

 private:
  explicit Threads(int count) : count_(count), scope_(count) {}

  int count_;
  LibraryThreads scope_;
};

// float32, bfloat16, float16, int32, int8 or uint8; undef for what oneDNN does not know.
dnnl::memory::data_type dataTypeOf(ScalarType type);

// The sizes and strides of [tensor] as they are.
dnnl::memory::desc descriptionOf(const Tensor& tensor);

// The elements of [tensor], seen as [description] says, where they are.
dnnl::memory memoryOf(const Tensor& tensor, const dnnl::memory::desc& description);

}  // namespace boxcar::cpu::onednn
