#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>
#include <boxcar/ivalue/macros.h>

#include <array>
#include <cstddef>

// What native operators leave to each device. An operator's checks and its result's sizes and dtype are the same on all
// devices and are in native/ once; the loop over elements is a function of the device, which registers it at a stub.
//
//   // native/softmax.h
//   using SoftmaxFunction = void(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm);
//   extern DeviceStub<SoftmaxFunction> softmaxLines;
//
//   // native/softmax.cpp
//   constinit DeviceStub<SoftmaxFunction> softmaxLines("softmax");
//
//   // cpu/softmax.cpp, cuda/rows.cpp, any other device
//   BOXCAR_REGISTER_STUB(CPU, softmaxLines, cpu::softmax)
//   BOXCAR_REGISTER_STUB(CUDA, native::softmaxLines, softmax)

namespace boxcar::native {

inline constexpr size_t kDeviceTypes = static_cast<size_t>(DeviceType::PrivateUse1) + 1;

// How a thread switches to a device of a type that has several, and back. A backend sets it while it is loaded.
struct DeviceSwitch {
  // Makes device [index] the thread's current one and returns the previous one.
  int (*enter)(DeviceIndex index) = nullptr;
  void (*leave)(int before) = nullptr;
};
inline constinit std::array<DeviceSwitch, kDeviceTypes> device_switches{};

namespace detail {

// Makes [device] the current device of its type while it lives.
class OnDevice final {
 public:
  explicit OnDevice(Device device) : switch_(device_switches[static_cast<size_t>(device.type())]) {
    if (switch_.enter != nullptr) before_ = switch_.enter(device.index());
  }
  ~OnDevice() {
    if (switch_.leave != nullptr) switch_.leave(before_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const DeviceSwitch& switch_;
  int before_ = 0;
};

}  // namespace detail

template <class Function>
class DeviceStub;

template <class R, class... Args>
class DeviceStub<R(Args...)> final {
 public:
  using Function = R (*)(Args...);

  // [name] is the operator's name in messages.
  constexpr explicit DeviceStub(const char* name) : name_(name) {}
  DeviceStub(const DeviceStub&) = delete;
  DeviceStub& operator=(const DeviceStub&) = delete;

  // Before the first call: while a backend is loaded.
  void set(DeviceType type, Function function) { functions_[static_cast<size_t>(type)] = function; }
  bool has(DeviceType type) const { return functions_[static_cast<size_t>(type)] != nullptr; }

  // Calls the function of [device]'s type, with [device] as the current one. Throws Error if the type has none.
  R operator()(Device device, Args... args) const {
    const Function function = functions_[static_cast<size_t>(device.type())];
    BOXCAR_CHECK(function != nullptr,
                 "{} has no kernel for device '{}'; move its tensors to 'cpu', or run with --cpu-fallback", name_,
                 toString(device));
    if (device.is_cpu()) [[likely]]
      return function(static_cast<Args>(args)...);
    const detail::OnDevice on(device);
    return function(static_cast<Args>(args)...);
  }

 private:
  const char* name_;
  std::array<Function, kDeviceTypes> functions_{};
};

}  // namespace boxcar::native

// Registers a device's function at a stub while the program or library is loaded.
#define BOXCAR_REGISTER_STUB(device_type, stub, function)                           \
  [[maybe_unused]] static const bool BOXCAR_CONCATENATE(boxcar_stub_, BOXCAR_UID) = \
      (stub.set(::boxcar::DeviceType::device_type, function), true);
