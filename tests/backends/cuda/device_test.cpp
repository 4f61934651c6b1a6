#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/event.h>
#include <boxcar/backends/cuda/graph.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/from_blob.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"
#include "tests/backends/cuda/simulated_device.h"

// Tensors on a simulated GPU, through the dispatcher.

namespace boxcar::cuda {
namespace {

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override { simulated::device() = {}; }
};

TEST_F(CudaDeviceTest, RefusesTensorsOnTwoDevices) {
  const Tensor first = onCuda(floats({1, 2}));
  EXPECT_EQ(errorOf([&] {
              boxcar::add(first, floats({1, 2}));
            }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! Move one "
            "with .to('cuda:0')");
  const Tensor second = boxcar::to(floats({1, 2}), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 1));
  EXPECT_EQ(errorOf([&] { boxcar::add(first, second); }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1! Move "
            "one with .to('cuda:0')");
}

TEST_F(CudaDeviceTest, CopiesBetweenTwoDevices) {
  const Tensor second = boxcar::to(onCuda(floats({1, 2})), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 1));
  EXPECT_EQ(second.device(), Device(DeviceType::CUDA, 1));
  EXPECT_EQ(hostFloats(boxcar::mul(second, second)), (std::vector<float>{1, 4}));
  EXPECT_EQ(currentDevice(), 0);
}

TEST_F(CudaDeviceTest, NamesTheDevicesThereAre) {
  EXPECT_EQ(errorOf([] { boxcar::to(floats({1}), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 5)); }),
            "device 'cuda:5': there are only 2 CUDA devices, so that the last one is 'cuda:1'");
}

// The first tensor of the process on a device, so that nothing else has registered the kernels.
TEST_F(CudaDeviceTest, TakesTensorsOverForeignMemoryFirst) {
  std::vector<float> numbers = {1, 2};
  const Tensor x = from_blob(numbers.data(), {2}, {.device = kCuda});
  EXPECT_EQ(hostFloats(boxcar::add(x, x)), (std::vector<float>{2, 4}));
}

TEST_F(CudaDeviceTest, ReportsALaunchThatFails) {
  const Tensor tensor = onCuda(floats({1, 2}));
  simulated::device().next_launch = 700;  // cudaErrorIllegalAddress
  EXPECT_EQ(
      errorOf([&] { boxcar::add(tensor, tensor); }),
      "CUDA failed while starting a kernel: unknown error (cudaErrorUnknown, error 700). The cause may be an earlier "
      "operator, because kernels run asynchronously; with BOXCAR_CUDA_SYNC=1 in the environment the operator "
      "that caused it reports it. CUDA fails all later calls of this process; start it again");
}

TEST_F(CudaDeviceTest, DoesNotWaitForWhatItStarts) {
  const Tensor a = onCuda(floats({1, 2}));
  const int waits = simulated::device().stream_waits;
  const Tensor b = boxcar::sum(boxcar::exp(boxcar::mul(a, a)));
  EXPECT_EQ(simulated::device().stream_waits, waits);
  EXPECT_EQ(simulated::device().device_waits, 0);
}

TEST_F(CudaDeviceTest, GivesMemoryAgainWithoutAskingTheDevice) {
  const Tensor a = onCuda(floats({1, 2}));
  Tensor b = boxcar::add(a, a);
  const int allocations = simulated::device().allocations;
  for (int i = 0; i < 100; ++i) b = boxcar::add(b, a);
  EXPECT_EQ(simulated::device().allocations, allocations);
}

TEST_F(CudaDeviceTest, MeasuresTimeBetweenEvents) {
  const Tensor a = onCuda(floats({1, 2}));
  const Event begin(true);
  const Event end(true);
  begin.record(currentStream());
  boxcar::add(a, a);
  boxcar::add(a, a);
  end.record(currentStream());
  end.synchronize();
  EXPECT_TRUE(end.isReached());
  EXPECT_EQ(end.since(begin), 2.0F);
}

TEST_F(CudaDeviceTest, PutsAStreamBetweenWhatComesBeforeAndBehind) {
  const CudaStream before = currentStream();
  {
    const StreamGuard guard;
    EXPECT_EQ(currentStream().handle, guard.stream().handle);
    EXPECT_NE(currentStream().handle, before.handle);
    EXPECT_EQ(simulated::device().event_waits, 1);
  }
  EXPECT_EQ(currentStream().handle, before.handle);
  EXPECT_EQ(simulated::device().event_waits, 2);
}

TEST_F(CudaDeviceTest, OrdersTheNextOwnerOfMemoryBehindTheStreamThatUsedIt) {
  Tensor x = onCuda(floats({1, 2}));
  const StreamGuard guard;
  const int waits = simulated::device().event_waits;
  Tensor y = boxcar::add(x, x);
  y = Tensor();  // memory that only this stream used
  EXPECT_EQ(simulated::device().event_waits, waits);
  x = Tensor();
  EXPECT_EQ(simulated::device().event_waits, waits + 1);
}

TEST_F(CudaDeviceTest, ReplaysAGraphAtOnce) {
  const Tensor x = onCuda(floats({1, 2}));
  Tensor y;
  Graph graph;
  graph.capture([&] { y = boxcar::add(boxcar::mul(x, x), x); });
  const int launches = simulated::device().launches;
  graph.launch();
  graph.launch();
  EXPECT_EQ(simulated::device().graph_launches, 2);
  EXPECT_EQ(simulated::device().launches, launches);
}

TEST_F(CudaDeviceTest, ReportsAFailureOnce) {
  const Tensor x = onCuda(floats({1, 2}));
  int host = 0;
  EXPECT_NE(errorOf([&] {
              check(driver().copy(&host, &host, sizeof(host), CopyKind::kDeviceToDevice, nullptr), "copying");
            }).find("CUDA failed while copying: invalid argument"),
            std::string::npos);
  EXPECT_EQ(hostFloats(boxcar::add(x, x)), (std::vector<float>{2, 4}));
}

}  // namespace
}  // namespace boxcar::cuda
