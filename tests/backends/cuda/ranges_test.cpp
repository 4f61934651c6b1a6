#include <boxcar/backends/cuda/ranges.h>
#include <boxcar/dispatcher/call/record_function.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"
#include "tests/backends/cuda/simulated_device.h"

namespace boxcar::cuda {
namespace {

class CudaRangesTest : public ::testing::Test {
 protected:
  void SetUp() override { simulated::device() = {}; }
  void TearDown() override {
    ::unsetenv("NVTX_INJECTION64_PATH");
    clearGlobalCallbacks();
  }
};

TEST_F(CudaRangesTest, NamesCallsWhereAToolListens) {
  ::setenv("NVTX_INJECTION64_PATH", "/some/tool.so", 1);
  nameCallsForTools(driver());
  boxcar::softmax(floats({1}), 0);
  EXPECT_EQ(simulated::device().ranges,
            (std::vector<std::string>{"aten::softmax.int", "aten::_softmax", "end", "end"}));
}

TEST_F(CudaRangesTest, ObservesNothingWhereNoneDoes) {
  nameCallsForTools(driver());
  EXPECT_FALSE(hasGlobalCallbacks());
}

}  // namespace
}  // namespace boxcar::cuda
