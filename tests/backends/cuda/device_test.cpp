#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/event.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/backends/cuda/device_helpers.h"
#include "tests/backends/cuda/simulated_device.h"

// Tensors on a make-believe GPU, by way of the dispatcher.

namespace boxcar::cuda {
namespace {

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override { simulated::device() = {}; }
};

TEST_F(CudaDeviceTest, MovesTensorsThereAndBack) {
  const Tensor there = onCuda(numbers({1, 2, 3}));
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(elements(there), (std::vector<float>{1, 2, 3}));
}

TEST_F(CudaDeviceTest, MovesViewsAndConverts) {
  const Tensor there = boxcar::t(boxcar::reshape(onCuda(numbers({1, 2, 3, 4, 5, 6})), std::vector<int64_t>{2, 3}));
  const Tensor host = boxcar::to(onHost(there), ScalarType::Long);
  EXPECT_TRUE(boxcar::equal(
      host, boxcar::to(boxcar::to(there, ScalarType::Long), std::nullopt, std::nullopt, Device(DeviceType::CPU))));
}

TEST_F(CudaDeviceTest, AddsWhereItsTensorsAre) {
  const Tensor sum = boxcar::add(onCuda(numbers({1, 2})), onCuda(numbers({10, 20})));
  EXPECT_EQ(sum.device(), kCuda);
  EXPECT_EQ(elements(sum), (std::vector<float>{11, 22}));
}

TEST_F(CudaDeviceTest, TakesANumberOnTheCpuAlong) {
  const Tensor sum = boxcar::add(onCuda(numbers({1, 2})), boxcar::sum(numbers({10})));
  EXPECT_EQ(sum.device(), kCuda);
  EXPECT_EQ(elements(sum), (std::vector<float>{11, 12}));
}

TEST_F(CudaDeviceTest, RefusesTensorsOnTwoDevices) {
  const Tensor first = onCuda(numbers({1, 2}));
  EXPECT_EQ(errorOf([&] {
              boxcar::add(first, numbers({1, 2}));
            }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!");
  const Tensor second = boxcar::to(numbers({1, 2}), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 1));
  EXPECT_EQ(errorOf([&] { boxcar::add(first, second); }),
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!");
}

TEST_F(CudaDeviceTest, CopiesBetweenTwoDevices) {
  const Tensor second = boxcar::to(onCuda(numbers({1, 2})), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 1));
  EXPECT_EQ(second.device(), Device(DeviceType::CUDA, 1));
  EXPECT_EQ(elements(boxcar::mul(second, second)), (std::vector<float>{1, 4}));
  EXPECT_EQ(currentDevice(), 0);
}

TEST_F(CudaDeviceTest, NamesTheDevicesThereAre) {
  EXPECT_EQ(errorOf([] { boxcar::to(numbers({1}), std::nullopt, std::nullopt, Device(DeviceType::CUDA, 5)); }),
            "device 'cuda:5': there are only 2 CUDA devices, so that the last one is 'cuda:1'");
}

TEST_F(CudaDeviceTest, ReportsADivisionByZeroAtTheNextOperatorThatWaits) {
  const Tensor ones = boxcar::to(onCuda(numbers({1, 1})), ScalarType::Long);
  const Tensor zeros = boxcar::zeros_like(ones);
  const Tensor quotient = boxcar::floor_divide(ones, zeros);
  EXPECT_EQ(errorOf([&] { onHost(quotient); }),
            "ZeroDivisionError: an integer was divided by zero. An earlier operator on cuda:0 found it, as kernels run "
            "behind "
            "the program's back; with BOXCAR_CUDA_SYNC=1 in the environment that operator reports it");
  EXPECT_EQ(errorOf([&] { onHost(quotient); }), "");  // once
}

TEST_F(CudaDeviceTest, ReportsALaunchThatFails) {
  const Tensor tensor = onCuda(numbers({1, 2}));
  simulated::device().next_launch = 700;  // cudaErrorIllegalAddress
  EXPECT_EQ(
      errorOf([&] { boxcar::add(tensor, tensor); }),
      "CUDA failed while starting a kernel: unknown error (cudaErrorUnknown, error 700). The cause may be an earlier "
      "operator, as kernels run behind the program's back; with BOXCAR_CUDA_SYNC=1 in the environment the operator "
      "that caused it reports it");
}

TEST_F(CudaDeviceTest, DoesNotWaitForWhatItStarts) {
  const Tensor a = onCuda(numbers({1, 2}));
  const int waits = simulated::device().stream_waits;
  const Tensor b = boxcar::sum(boxcar::exp(boxcar::mul(a, a)));
  EXPECT_EQ(simulated::device().stream_waits, waits);
  EXPECT_EQ(simulated::device().device_waits, 0);
}

TEST_F(CudaDeviceTest, GivesMemoryAgainWithoutAskingTheDevice) {
  const Tensor a = onCuda(numbers({1, 2}));
  Tensor b = boxcar::add(a, a);
  const int allocations = simulated::device().allocations;
  for (int i = 0; i < 100; ++i) b = boxcar::add(b, a);
  EXPECT_EQ(simulated::device().allocations, allocations);
}

TEST_F(CudaDeviceTest, ResizesAnOutput) {
  Tensor out = onCuda(numbers({7}));
  boxcar::add_out(out, onCuda(numbers({1, 2, 3})), onCuda(numbers({1, 1, 1})));
  EXPECT_EQ(elements(out), (std::vector<float>{2, 3, 4}));
}

TEST_F(CudaDeviceTest, HandsStreamsOutInTurn) {
  const CudaStream first = streamFromPool();
  const CudaStream second = streamFromPool();
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(streamById(first.id).handle, first.handle);
  EXPECT_EQ(errorOf([] { streamById(9); }), "there is no stream 9; streams have the numbers 0 to 8");
}

TEST_F(CudaDeviceTest, MeasuresTimeBetweenEvents) {
  const Tensor a = onCuda(numbers({1, 2}));
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

}  // namespace
}  // namespace boxcar::cuda
