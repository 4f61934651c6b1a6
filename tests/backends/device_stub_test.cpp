#include <boxcar/backends/native/device_stub.h>
#include <boxcar/backends/native/registration.h>
#include <boxcar/dispatcher/registry/dispatcher.h>
#include <boxcar/dispatcher/registry/library.h>
#include <boxcar/ivalue/allocator.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "tests/backends/tensor_helpers.h"
#include "tests/test_support.h"

// A third device supports a native operator by registering a function at the operator's stub; native/ needs no change.

namespace boxcar::native {
namespace {

using TwiceFunction = void(const Tensor& out, const Tensor& self);
constinit DeviceStub<TwiceFunction> twiceElements("stub_test::twice");

Tensor twice(const Tensor& self) {
  Tensor out = Tensor::allocate(self.sizes(), self.scalar_type(), self.device());
  if (!self.is_meta()) twiceElements(self.device(), out, self);
  return out;
}

// The memory of the third device is host memory.
void doubled(const Tensor& out, const Tensor& self) {
  const auto* const in = static_cast<const float*>(self.data_ptr());
  for (int64_t i = 0; i < self.numel(); ++i) static_cast<float*>(out.data_ptr())[i] = 2 * in[i];
}

std::vector<int> entered;
void doubledOnDevice(const Tensor& out, const Tensor& self) { doubled(out, self); }

BOXCAR_REGISTER_STUB(CPU, twiceElements, doubled)
BOXCAR_REGISTER_STUB(XPU, twiceElements, doubledOnDevice)

BOXCAR_LIBRARY(stub_test, m) { m.def("twice(Tensor self) -> Tensor"); }
BOXCAR_NATIVE_KERNELS(stub_test, m, twiceElements) { m.impl("twice", BOXCAR_FN(twice)); }

Tensor call(const Tensor& self) {
  static const auto op =
      Dispatcher::singleton().findSchemaOrThrow("stub_test::twice", "").typed<Tensor(const Tensor&)>();
  return op.call(self);
}

constexpr Allocator kHostMemory = {[](size_t bytes, DeviceIndex) { return std::malloc(bytes); },
                                   [](void* memory, size_t, DeviceIndex) { std::free(memory); }};

class DeviceStubs : public ::testing::Test {
 protected:
  DeviceStubs() {
    setAllocator(DeviceType::XPU, &kHostMemory);
    entered.clear();
    device_switches[static_cast<size_t>(DeviceType::XPU)] = {[](DeviceIndex index) {
                                                               entered.push_back(index);
                                                               return 7;
                                                             },
                                                             [](int before) { entered.push_back(-before); }};
  }
  ~DeviceStubs() override {
    device_switches[static_cast<size_t>(DeviceType::XPU)] = {};
    setAllocator(DeviceType::XPU, nullptr);
  }

  static Tensor onDevice() {
    Tensor self = Tensor::allocate(std::vector<int64_t>{2}, ScalarType::Float, Device(DeviceType::XPU, 3));
    static_cast<float*>(self.data_ptr())[0] = 1.5F;
    static_cast<float*>(self.data_ptr())[1] = -2.0F;
    return self;
  }
};

TEST_F(DeviceStubs, ServeAThirdDeviceOnceItsKernelsAreRegistered) {
  registerNativeKernels(DeviceType::XPU);
  registerNativeKernels(DeviceType::XPU);
  const Tensor out = call(onDevice());
  EXPECT_EQ(out.device(), Device(DeviceType::XPU, 3));
  EXPECT_EQ(static_cast<const float*>(out.data_ptr())[0], 3.0F);
  EXPECT_EQ(static_cast<const float*>(out.data_ptr())[1], -4.0F);
  EXPECT_EQ(entered, (std::vector<int>{3, -7}));
}

TEST_F(DeviceStubs, LeaveOperatorsThatTheDeviceLacksToTheirError) {
  registerNativeKernels(DeviceType::XPU);
  const OperatorHandle softmax = Dispatcher::singleton().findSchemaOrThrow("aten::_softmax", "");
  EXPECT_FALSE(softmax.hasKernelForDispatchKey(DispatchKey::XPU));
  EXPECT_TRUE(
      Dispatcher::singleton().findSchemaOrThrow("stub_test::twice", "").hasKernelForDispatchKey(DispatchKey::XPU));
}

TEST_F(DeviceStubs, TellTheDeviceWithoutAFunction) {
  const Tensor host = Tensor::allocate(std::vector<int64_t>{1}, ScalarType::Float, Device(DeviceType::CPU));
  EXPECT_FALSE(twiceElements.has(DeviceType::HIP));
  EXPECT_EQ(errorOf([&] { twiceElements(Device(DeviceType::HIP, 0), host, host); }),
            "stub_test::twice has no kernel for device 'hip:0'; move its tensors to 'cpu', or run with --cpu-fallback");
}

}  // namespace
}  // namespace boxcar::native
