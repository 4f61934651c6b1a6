#include <boxcar/interpreter/session/program.h>
#include <boxcar/ivalue/from_blob.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/backends/cuda/on_device/device_helpers.h"

// A fault that a simulated device cannot have: a kernel that reads memory which is not there.

namespace boxcar {
namespace {

// Prints the errors of a script that causes the fault and of the next call.
void readNothing() {
  ::setenv("BOXCAR_CUDA_SYNC", "1", 1);
  const Program program = Program::compile("fn more(Tensor x) -> Tensor {\n  return x + 1\n}\n", "fault.ops");
  Stack stack;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): no allocation lies there.
  push(stack, from_blob(reinterpret_cast<void*>(0x10000), {1000}, {.device = cuda::kCuda}));
  std::fprintf(stderr, "%s\n", errorOf([&] { program.function("more").call(stack); }).c_str());
  std::fprintf(stderr, "%s\n", errorOf([] { cuda::onCuda(floats({1})); }).c_str());
  std::exit(7);
}

TEST(CudaFaults, NameTheOperatorAndTheLineAndSayThatTheProcessMustStartAgain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(readNothing(), testing::ExitedWithCode(7),
              "CUDA failed while waiting for a kernel: an illegal memory access was encountered "
              "\\(cudaErrorIllegalAddress, error 700\\). CUDA fails all later calls of this process; start it again\n"
              "(.|\n)*aten.*add(.|\n)*fault.ops:2:10 in fn more(.|\n)*"
              "CUDA failed while (.)* error 700\\). CUDA fails all later calls of this process; start it again");
}

}  // namespace
}  // namespace boxcar
