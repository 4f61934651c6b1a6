#include <boxcar/backends/autograd/autograd.h>
#include <boxcar/backends/transforms/fake_scope.h>
#include <boxcar/backends/transforms/fake_tensor.h>
#include <boxcar/backends/transforms/vmap.h>
#include <boxcar/dispatcher/handlers/check/nan_checker.h>
#include <boxcar/dispatcher/handlers/memory/memory_tracker.h>
#include <boxcar/dispatcher/values/content_hash.h>
#include <boxcar/dispatcher/values/tensor_bytes.h>
#include <boxcar/dispatcher/values/value_copy.h>
#include <boxcar/ivalue/cpu_generator.h>
#include <boxcar/ivalue/dlpack.h>
#include <boxcar/ivalue/no_elements_error.h>
#include <boxcar/ivalue/storage_without_memory.h>

#include "tests/backends/tensor_helpers.h"

// Fake tensors: the shapes, dtypes and devices of calls, without memory and without the devices.

namespace boxcar::transforms {
namespace {

const Device kGpu(DeviceType::CUDA, 0);

Tensor fakeOn(Device device, IntArrayRef sizes) { return FakeConverter(device).convert(zeros(sizes)); }

TEST(FakeTensor, HasAShapeAndADeviceAndNoMemory) {
  const Tensor x = fakeOn(kGpu, {2, 3});
  EXPECT_TRUE(isFake(x));
  EXPECT_EQ(x.device(), kGpu);
  EXPECT_EQ(x.data_ptr(), nullptr);
  EXPECT_EQ(x.storage()->nbytes(), 24U);
  EXPECT_TRUE(lacksMemory(*x.storage()));
  EXPECT_EQ(toString(x), "tensor(..., device='cuda:0', size=(2, 3), fake)");
}

TEST(FakeTensor, LargerThanAnyMemoryIsNoMatter) {
  const FakeTensorGuard fake(kGpu);
  const Tensor x = empty({1 << 20, 1 << 20});
  EXPECT_EQ(shapeText(mm(x, t(x))), "float32[1048576, 1048576]");
}

TEST(FakeTensor, ADeviceWithoutANumberIsItsFirst) {
  const FakeTensorGuard fake(Device(DeviceType::CUDA));
  EXPECT_EQ(zeros({1}).device(), kGpu);
  EXPECT_EQ(zeros({1}, std::nullopt, std::nullopt, Device("cuda")).device(), kGpu);
  EXPECT_EQ(zeros({1}, std::nullopt, std::nullopt, Device("cuda:2")).device(), Device("cuda:2"));
}

TEST(FakeTensor, CallsWorkAfterTheScope) {
  Tensor x;
  {
    const FakeTensorGuard fake(kGpu);
    x = ones({4, 3});
  }
  const Tensor y = softmax(linear(x, x), 1);
  EXPECT_TRUE(isFake(y));
  EXPECT_EQ(y.device(), kGpu);
  EXPECT_EQ(shapeText(y), "float32[4, 4]");
  EXPECT_FALSE(isFake(ones({1})));
}

TEST(FakeTensor, ViewsShareTheirMemory) {
  const Tensor x = fakeOn(kGpu, {4, 3});
  const Tensor row = select(x, 0, 1);
  EXPECT_EQ(row.storage(), x.storage());
  EXPECT_EQ(row.storage_offset(), 3);
  EXPECT_EQ(row.unsafeGetTensorImpl()->base(), x.unsafeGetTensorImpl());
  const Tensor column = t(x);
  EXPECT_EQ(stridesOf(column), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(detach(x).storage(), x.storage());
}

TEST(FakeTensor, WritesAreCounted) {
  Tensor x = fakeOn(kGpu, {3});
  const uint32_t before = x.version();
  Tensor& result = add_(x, 1);
  EXPECT_TRUE(result.is_same(x));
  EXPECT_EQ(x.version(), before + 1);
}

TEST(FakeTensor, CallsGiveTensorsOtherShapes) {
  Tensor x = fakeOn(kGpu, {3});
  resize_(x, {4, 4});
  EXPECT_EQ(shapeText(x), "float32[4, 4]");
  EXPECT_EQ(x.storage()->nbytes(), 64U);
  Tensor out = fakeOn(kGpu, {0});
  add_out(out, x, x);
  EXPECT_EQ(shapeText(out), "float32[4, 4]");
  transpose_(x, 0, 1);
  EXPECT_EQ(stridesOf(x), (std::vector<int64_t>{1, 4}));
}

TEST(FakeTensor, NumbersOfTheCpuMix) {
  const Tensor x = fakeOn(kGpu, {3});
  EXPECT_EQ(add(x, floats({2}, {})).device(), kGpu);
  EXPECT_EQ(add(fakeOn(DeviceType::CPU, {}), x).device(), kGpu);
  EXPECT_EQ(index(x, List<std::optional<Tensor>>({FakeConverter().convert(ints({0}))})).device(), kGpu);
}

TEST(FakeTensor, TwoDevicesAreRefused) {
  const Tensor x = fakeOn(kGpu, {3});
  const Tensor y = fakeOn(DeviceType::CPU, {3});
  EXPECT_EQ(
      errorOf([&] { add(x, y); }),
      "aten::add.Tensor: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
      "cpu! Move one with .to('cuda:0')");
  EXPECT_EQ(add(x, to(y, kGpu, ScalarType::Float)).device(), kGpu);
}

TEST(FakeTensor, RealTensorsAreRefused) {
  const Tensor x = fakeOn(DeviceType::CPU, {3});
  EXPECT_EQ(errorOf([&] { add(x, ones({3})); }),
            "aten::add.Tensor: argument 'other' is a real tensor of sizes [3], among fake ones; convert it with "
            "func::fake_like(x), or make it inside fake()");
  Tensor number = ones({});
  EXPECT_EQ(errorOf([&] { copy_(number, select(x, 0, 0)); }),
            "aten::copy_: argument 'self' is a real tensor of sizes [], among fake ones; convert it with "
            "func::fake_like(x), or make it inside fake()");
  EXPECT_EQ(elements<float>(number), std::vector<float>{1});
}

TEST(FakeTensor, WhatDependsOnElementsIsRefused) {
  const Tensor x = fakeOn(DeviceType::CPU, {3});
  EXPECT_EQ(errorOf([&] { nonzero(x); }),
            "aten::nonzero: the sizes of its result depend on the elements of argument 'self', which is fake and has "
            "none; call it on a real tensor, outside of fake()");
  EXPECT_EQ(errorOf([&] { item(select(x, 0, 0)); }),
            "aten::item: its result depends on the elements of argument 'self', which is fake and has none; call it on "
            "a real tensor, outside of fake()");
  EXPECT_EQ(errorOf([&] { combinations(x, 2); }),
            "aten::combinations calls aten::masked_select: the sizes of its result depend on the elements of argument "
            "'self', which is fake and has none; call it on a real tensor, outside of fake()");
  EXPECT_THROW(index(x, List<std::optional<Tensor>>({gt(x, 0)})), NoElementsError);
}

TEST(FakeTensor, ChecksInsideVmapReadNoElements) {
  NanChecker checker;
  const HandlerGuard on(checker);
  const FakeTensorGuard fake;
  const auto twice = [](const std::vector<Tensor>& args) { return std::vector<Tensor>{mul(args[0], 2)}; };
  const Tensor found = vmap(twice)({ones({2, 3})})[0];
  EXPECT_TRUE(isFake(found));
  EXPECT_EQ(shapeText(found), "float32[2, 3]");
}

TEST(FakeTensor, ElementsCannotBeRead) {
  const Tensor x = fakeOn(DeviceType::CPU, {2});
  EXPECT_EQ(
      errorOf([&] { x.data_ptr<float>(); }),
      "a fake tensor has no elements to read: it has only sizes [2], a dtype and the device 'cpu'; make it outside "
      "of fake(), or materialize() it, to have them");
  EXPECT_FALSE(hasBytes(x));
  EXPECT_TRUE(ElementBytes(x).bytes().empty());
  EXPECT_EQ(errorOf([&] { (void)toDLPack(x); }),
            "cannot lend the tensor by DLPack: it is fake and has no elements; make it outside of fake(), "
            "or take func::materialize(x)");
  ValueCopier copier;
  const Tensor copy = copier.copy(x);
  EXPECT_TRUE(isFake(copy));
  EXPECT_EQ(copy.data_ptr(), nullptr);
  EXPECT_NE(copy.storage(), x.storage());
}

TEST(FakeTensor, NumbersOfTheProgramAreRemembered) {
  const FakeTensorGuard fake(kGpu);
  const Tensor number = scalar_tensor(4);
  EXPECT_EQ(item(number).toDouble(), 4);
  const Tensor list = lift_fresh(ints({3, 0, 5}));
  EXPECT_TRUE(isFake(list));
  EXPECT_EQ(item(select(list, 0, 2)).toLong(), 5);
  EXPECT_EQ(item(sum(mul(list, 2))).toLong(), 16);
  EXPECT_EQ(shapeText(nonzero(list)), "int64[2, 1]");
  Tensor written = lift_fresh(ints({1}));
  add_(written, 1);
  EXPECT_THROW(item(written), NoElementsError);
}

TEST(FakeTensor, NothingIsDrawn) {
  defaultCpuGenerator().set_current_seed(1);
  {
    const FakeTensorGuard fake;
    const Tensor x = randn({100});
    dropout(x, 0.5, true);
  }
  const Tensor after = rand({3});
  defaultCpuGenerator().set_current_seed(1);
  EXPECT_EQ(elements<float>(after), elements<float>(rand({3})));
}

TEST(FakeTensor, GradientsAreFake) {
  const FakeTensorGuard fake(kGpu);
  const Tensor w = randn({4, 3}).set_requires_grad(true);
  const Tensor loss = sum(relu(linear(randn({2, 3}), w)));
  autograd::backward({{loss}});
  const Tensor gradient = autograd::gradOf(w);
  EXPECT_TRUE(isFake(gradient));
  EXPECT_EQ(gradient.device(), kGpu);
  EXPECT_EQ(shapeText(gradient), "float32[4, 3]");
}

TEST(FakeTensor, TensorsOfOneStorageStaySo) {
  const Tensor x = zeros({4});
  FakeConverter converter;
  const Tensor fake = converter.convert(x);
  EXPECT_TRUE(converter.convert(x).is_same(fake));
  EXPECT_EQ(converter.convert(slice(x, 0, 1, 3)).storage(), fake.storage());
  EXPECT_TRUE(converter.convert(fake).is_same(fake));
}

TEST(FakeTensor, MemoryIsCountedAsIfItWereThere) {
  MemoryTracker tracker;
  {
    const HandlerGuard on(tracker);
    const FakeTensorGuard fake(kGpu);
    const Tensor x = zeros({1 << 10, 1 << 10, 1 << 10});
    EXPECT_EQ(tracker.liveBytes(), uint64_t{4} << 30);
    const Tensor y = add(x, 1);
    EXPECT_EQ(tracker.liveBytes(), uint64_t{8} << 30);
  }
  EXPECT_EQ(tracker.liveBytes(), 0U);
  EXPECT_EQ(tracker.peakBytes(), uint64_t{8} << 30);
}

TEST(FakeTensor, AStorageWithoutMemoryMayGrow) {
  const Storage storage = storageWithoutMemory(10, kGpu);
  EXPECT_TRUE(lacksMemory(*storage));
  storage->resize(20);
  EXPECT_EQ(storage->nbytes(), 20U);
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_FALSE(lacksMemory(*zeros({3}).storage()));
  EXPECT_FALSE(lacksMemory(*empty({3}, std::nullopt, std::nullopt, Device("meta")).storage()));
}

}  // namespace
}  // namespace boxcar::transforms
