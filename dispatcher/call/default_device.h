#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/ivalue.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/schema/function_schema.h>

#include <optional>
#include <span>

// The device of the tensors that a script makes without naming one: `with device("cuda:0") { … }`.

namespace boxcar {

// This thread's default device; nothing means the CPU. It is for what scripts call, and not for what operators call in
// turn, as in PyTorch. C++ names its devices.
class BOXCAR_API DefaultDevice final {
 public:
  static std::optional<Device> get() noexcept;
  static void set(std::optional<Device> device) noexcept;
};

// Sets the thread's default device while it lives.
class DefaultDeviceGuard final {
 public:
  explicit DefaultDeviceGuard(std::optional<Device> device) noexcept : before_(DefaultDevice::get()) {
    DefaultDevice::set(device);
  }
  ~DefaultDeviceGuard() { DefaultDevice::set(before_); }
  DefaultDeviceGuard(const DefaultDeviceGuard&) = delete;
  DefaultDeviceGuard& operator=(const DefaultDeviceGuard&) = delete;

 private:
  std::optional<Device> before_;
};

// Returns the position of a factory's argument `Device? device`; nothing for operators that have none, or that take a
// tensor, whose device theirs is.
BOXCAR_API std::optional<size_t> factoryDevice(const FunctionSchema& schema);

// Gives a factory's call the default device if there is one and [arguments], all that the schema has, name none.
BOXCAR_API void takeDefaultDevice(const FunctionSchema& schema, std::span<IValue> arguments);

}  // namespace boxcar
