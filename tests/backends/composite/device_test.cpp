#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/allocator.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/backends/tensor_helpers.h"

// The minimum for a device other than the CPU: an allocator, and kernels for `empty` and `copy_`. Its memory is host
// memory here.

namespace boxcar {
namespace {

constexpr Device kDevice(DeviceType::PrivateUse1, 0);
constexpr Allocator kAllocator = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                  [](void* memory, size_t, DeviceIndex) { std::free(memory); }};

class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() : kernels_(Library::IMPL, "aten", DispatchKey::PrivateUse1, "device_test.cpp", 1) {
    setAllocator(DeviceType::PrivateUse1, &kAllocator);
    kernels_.impl("empty.memory_format",
                  [](std::span<const int64_t> size, std::optional<ScalarType> dtype, std::optional<Layout>,
                     std::optional<Device>, std::optional<bool>, std::optional<MemoryFormat>) {
                    return Tensor::allocate(size, dtype.value_or(ScalarType::Float), kDevice);
                  });
    kernels_.impl("copy_", [this](Tensor& self, const Tensor& src, bool) -> Tensor& {
      copies_.push_back(toString(src.device()) + " to " + toString(self.device()));
      std::copy_n(static_cast<const char*>(src.data_ptr()), src.nbytes(), static_cast<char*>(self.data_ptr()));
      return self;
    });
  }
  ~DeviceTest() override { setAllocator(DeviceType::PrivateUse1, nullptr); }

  Library kernels_;
  std::vector<std::string> copies_;
};

TEST_F(DeviceTest, ItsKernelCopiesToItFromItAndWithinIt) {
  const Tensor x = floats({1, 2, 3});
  const auto to = [](const Tensor& tensor, Device device) {
    return boxcar::to(tensor, std::nullopt, std::nullopt, device);
  };
  const Tensor there = to(x, kDevice);
  EXPECT_EQ(there.device(), kDevice);
  EXPECT_TRUE(to(there, kDevice).is_same(there));
  const Tensor second = clone(there);
  EXPECT_EQ(second.device(), kDevice);
  EXPECT_EQ(toString(to(second, DeviceType::CPU)), "tensor([1., 2., 3.])");
  EXPECT_EQ(copies_, (std::vector<std::string>{"cpu to privateuseone:0", "privateuseone:0 to privateuseone:0",
                                               "privateuseone:0 to cpu"}));
}

TEST_F(DeviceTest, ViewsNeedNoKernelOfIts) {
  const Tensor there = boxcar::to(floats({1, 2, 3, 4}), std::nullopt, std::nullopt, kDevice);
  const Tensor row = select(view(there, {2, 2}), 0, 1);
  EXPECT_EQ(row.device(), kDevice);
  EXPECT_EQ(static_cast<const float*>(row.data_ptr())[0], 3);
}

TEST_F(DeviceTest, PrintsWhatIsThere) {
  const auto there = [](const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, kDevice); };
  EXPECT_EQ(toString(there(floats({1, 2.5}))), "tensor([1.0000, 2.5000], device='privateuseone:0')");
  EXPECT_EQ(toString(there(ints({1, 2}))), "tensor([1, 2], device='privateuseone:0')");
  EXPECT_EQ(toString(there(empty({0, 3}))), "tensor([], device='privateuseone:0', size=(0, 3))");
  const Tensor left = there(floats({1, 2}));
  kernels_ = Library(Library::IMPL, "aten", DispatchKey::PrivateUse1, "device_test.cpp", 2);
  EXPECT_EQ(toString(left), "tensor(..., device='privateuseone:0', size=(2,))");
}

TEST_F(DeviceTest, AnOperatorWithoutAKernelThereSaysSo) {
  const Tensor there = empty({2}, std::nullopt, std::nullopt, kDevice);
  const std::string error = errorOf([&] { relu(there); });
  EXPECT_EQ(error.substr(0, 61), "could not run aten::relu for dispatch key PrivateUse1, which ") << error;
}

}  // namespace
}  // namespace boxcar
