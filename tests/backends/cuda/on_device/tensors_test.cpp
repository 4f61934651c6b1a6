#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/event.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/backends/cuda/on_device/device_helpers.h"

// Tensors on a GPU, through the dispatcher; its memory, streams and events.

namespace boxcar::cuda {
namespace {

TEST(CudaTensors, MovesTensorsThereAndBack) {
  const Tensor there = onCuda(floats({1, 2, 3}));
  EXPECT_EQ(there.device(), kCuda);
  EXPECT_EQ(hostFloats(there), (std::vector<float>{1, 2, 3}));
}

TEST(CudaTensors, MovesViewsAndConverts) {
  const Tensor there = boxcar::t(boxcar::reshape(onCuda(floats({1, 2, 3, 4, 5, 6})), std::vector<int64_t>{2, 3}));
  const Tensor host = boxcar::to(onHost(there), ScalarType::Long);
  EXPECT_TRUE(boxcar::equal(
      host, boxcar::to(boxcar::to(there, ScalarType::Long), std::nullopt, std::nullopt, Device(DeviceType::CPU))));
}

TEST(CudaTensors, AddsWhereItsTensorsAre) {
  const Tensor sum = boxcar::add(onCuda(floats({1, 2})), onCuda(floats({10, 20})));
  EXPECT_EQ(sum.device(), kCuda);
  EXPECT_EQ(hostFloats(sum), (std::vector<float>{11, 22}));
}

TEST(CudaTensors, TakesANumberOnTheCpuAlong) {
  const Tensor sum = boxcar::add(onCuda(floats({1, 2})), boxcar::sum(floats({10})));
  EXPECT_EQ(sum.device(), kCuda);
  EXPECT_EQ(hostFloats(sum), (std::vector<float>{11, 12}));
}

TEST(CudaTensors, ReportsADivisionByZeroAtTheNextOperatorThatWaits) {
  const Tensor ones = boxcar::to(onCuda(floats({1, 1})), ScalarType::Long);
  const Tensor zeros = boxcar::zeros_like(ones);
  const Tensor quotient = boxcar::floor_divide(ones, zeros);
  EXPECT_EQ(errorOf([&] { onHost(quotient); }),
            "ZeroDivisionError: an integer was divided by zero. An earlier operator on cuda:0 found it, because "
            "kernels run asynchronously; with BOXCAR_CUDA_SYNC=1 in the environment that operator reports it");
  EXPECT_EQ(errorOf([&] { onHost(quotient); }), "no error");  // reported only once
}

TEST(CudaTensors, JoinsPartsThatLieAnywhere) {
  // Words of 16 bytes down to 1: where the parts begin, and how long their rows are, decides.
  for (const ScalarType type : {ScalarType::Byte, ScalarType::Half, ScalarType::Float, ScalarType::ComplexDouble}) {
    for (const int64_t begin : {0, 1, 2, 4, 16}) {
      for (const int64_t dim : {0, 1}) {
        SCOPED_TRACE(testing::Message() << dtypeName(type) << " from " << begin << " along " << dim);
        const Tensor line = boxcar::to(boxcar::arange(700), type);
        const auto partsOf = [&](const Tensor& all) {
          std::vector<Tensor> parts;
          for (const int64_t width : {1, 16, 0, 3, 8}) {
            const int64_t rows = dim == 0 ? width : 6;
            const int64_t columns = dim == 0 ? 16 : width;
            const Tensor part = boxcar::slice(all, 0, begin, begin + rows * columns);
            parts.push_back(boxcar::view(part, std::vector<int64_t>{rows, columns}));
          }
          return parts;
        };
        EXPECT_TRUE(boxcar::equal(onHost(boxcar::cat(partsOf(onCuda(line)), dim)), boxcar::cat(partsOf(line), dim)));
      }
    }
  }
}

TEST(CudaTensors, JoinsMoreThanALaunchTakes) {
  const Tensor line = boxcar::arange(2000);
  const auto joined = [](const Tensor& all) {
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < 75; ++i) {
      parts.push_back(boxcar::view(boxcar::slice(all, 0, i, i + 4 * (1 + i % 3)), std::vector<int64_t>{4, 1 + i % 3}));
    }
    return boxcar::cat(parts, 1);
  };
  EXPECT_TRUE(boxcar::equal(onHost(joined(onCuda(line))), joined(line)));
}

TEST(CudaTensors, ResizesAnOutput) {
  Tensor out = onCuda(floats({7}));
  boxcar::add_out(out, onCuda(floats({1, 2, 3})), onCuda(floats({1, 1, 1})));
  EXPECT_EQ(hostFloats(out), (std::vector<float>{2, 3, 4}));
}

TEST(CudaTensors, HandsStreamsOutInTurn) {
  const CudaStream first = streamFromPool();
  const CudaStream second = streamFromPool();
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(streamById(first.id).handle, first.handle);
  EXPECT_EQ(errorOf([] { streamById(9); }), "there is no stream 9; streams are numbered 0 to 8");
}

TEST(CudaTensors, KeepMemoryForTheNext) {
  const auto segments = [] { return allocatorOf(0).statistics().device_allocations; };
  const Tensor a = onCuda(floats({1, 2}));
  Tensor b = boxcar::add(a, a);
  const uint64_t before = segments();
  for (int i = 0; i < 1000; ++i) b = boxcar::add(b, a);
  EXPECT_EQ(segments(), before);
  EXPECT_EQ(hostFloats(b), (std::vector<float>{1002, 2004}));
}

TEST(CudaTensors, ArriveFromPinnedMemoryWithoutWaiting) {
  const Tensor pinned = boxcar::pin_memory(boxcar::arange(100000, ScalarType::Float));
  EXPECT_TRUE(boxcar::is_pinned(pinned));
  const Tensor there = boxcar::to(pinned, std::nullopt, std::nullopt, kCuda, std::nullopt, /*non_blocking=*/true);
  EXPECT_TRUE(boxcar::equal(onHost(there), pinned));
}

TEST(CudaTensors, AreRightBehindAStream) {
  const Tensor x = onCuda(boxcar::ones(std::vector<int64_t>{1 << 20}));
  Tensor y = x;
  for (int i = 0; i < 20; ++i) {
    const StreamGuard stream;
    y = boxcar::add(y, x);
  }
  EXPECT_EQ(boxcar::item(boxcar::sum(y)).toDouble(), 21.0 * (1 << 20));
}

TEST(CudaTensors, AreLargerThanABlockOfThreads) {
  const Tensor host = boxcar::arange(3000000, ScalarType::Float);
  const Tensor there = onCuda(host);
  EXPECT_TRUE(boxcar::equal(onHost(boxcar::mul(there, 2)), boxcar::mul(host, 2)));
  const Tensor square = boxcar::reshape(host, std::vector<int64_t>{1500, 2000});
  EXPECT_TRUE(boxcar::equal(onHost(boxcar::add(boxcar::t(onCuda(square)), 1)), boxcar::add(boxcar::t(square), 1)));
  EXPECT_TRUE(boxcar::equal(onHost(boxcar::amax(onCuda(square), std::vector<int64_t>{0})),
                            boxcar::amax(square, std::vector<int64_t>{0})));
}

// nvcc did not compile this with the arithmetic of std::complex.
TEST(CudaTensors, OfComplexNumbersAreComputedWith) {
  for (const ScalarType type : {ScalarType::ComplexFloat, ScalarType::ComplexDouble}) {
    manualSeed(5);
    const Tensor x = boxcar::randn(std::vector<int64_t>{70, 50}, type);
    const Tensor y = boxcar::randn(std::vector<int64_t>{70, 50}, type);
    const Tensor index = boxcar::randint(70, std::vector<int64_t>{70});
    const auto onBoth = [&](const char* what, const auto& call) {
      const Tensor expected = call(x, y, index);
      EXPECT_TRUE(boxcar::allclose(onHost(call(onCuda(x), onCuda(y), onCuda(index))), expected, 1e-4, 1e-5))
          << what << " of " << dtypeName(type);
    };
    onBoth("add", [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::add(a, b, 2); });
    onBoth("sub", [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::sub(a, b); });
    onBoth("mul", [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::mul(a, b); });
    onBoth("div", [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::div(a, b); });
    onBoth("lerp", [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::lerp(a, b, 0.25); });
    onBoth("sign", [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::sgn(a); });
    onBoth("sigmoid", [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::sigmoid(a); });
    onBoth("sum", [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::sum(a); });
    onBoth("mean",
           [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::mean(a, std::vector<int64_t>{0}); });
    onBoth("var", [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::var(a); });
    onBoth("cumsum", [](const Tensor& a, const Tensor&, const Tensor&) { return boxcar::cumsum(a, 1); });
    onBoth("index_add",
           [](const Tensor& a, const Tensor& b, const Tensor& i) { return boxcar::index_add(a, 0, i, b); });
    onBoth("matrix product",
           [](const Tensor& a, const Tensor& b, const Tensor&) { return boxcar::mm(a, boxcar::t(b)); });
  }
}

TEST(CudaEvents, MeasureTheWorkBetweenThem) {
  const Tensor a = onCuda(boxcar::ones(std::vector<int64_t>{1 << 20}));
  const Event begin(/*timing=*/true);
  const Event end(/*timing=*/true);
  begin.record(currentStream());
  for (int i = 0; i < 10; ++i) boxcar::mul(a, a);
  end.record(currentStream());
  end.synchronize();
  EXPECT_TRUE(end.isReached());
  EXPECT_GT(end.since(begin), 0);
}

}  // namespace
}  // namespace boxcar::cuda
