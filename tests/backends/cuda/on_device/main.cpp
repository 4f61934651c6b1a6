// Runs the tests of this folder on the machine's GPU; without one, each is skipped with a message.

#include <boxcar/backends/cuda/device.h>
#include <gtest/gtest.h>

namespace {

class NeedsDevice final : public ::testing::Environment {
 public:
  void SetUp() override {
    if (boxcar::cuda::deviceCount() == 0) GTEST_SKIP() << "skipped: CUDA: " << boxcar::cuda::whyNoDevice();
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new NeedsDevice);
  return RUN_ALL_TESTS();
}
