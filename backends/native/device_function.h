#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>

// What operators of dense tensors leave to each device. The checks of an operator, and the sizes and dtype of its
// result, are in native/ for all devices; the loop over elements is a function of the device.
//
//   // native/softmax.h
//   using SoftmaxFunction = void(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm);
//   extern DeviceFunction<SoftmaxFunction> softmaxLines;
//
//   // cpu/softmax.cpp, the one definition
//   constinit DeviceFunction<SoftmaxFunction> softmaxLines("softmax", cpu::softmaxLines);
//
//   // cuda/softmax.cpp
//   BOXCAR_CUDA_FUNCTION(softmaxLines, softmaxOnDevice)

namespace boxcar::native {

// How a thread switches to a device of a kind that has several, and back. A backend sets it while it loads.
struct DeviceSwitch {
  // Makes device [index] the thread's current device and returns the previous one.
  int (*enter)(DeviceIndex index) = nullptr;
  void (*leave)(int before) = nullptr;
};
inline constinit DeviceSwitch cuda_switch;

namespace detail {

class OnCuda final {
 public:
  explicit OnCuda(Device device) : before_(cuda_switch.enter(device.index())) {}
  ~OnCuda() { cuda_switch.leave(before_); }
  OnCuda(const OnCuda&) = delete;
  OnCuda& operator=(const OnCuda&) = delete;

 private:
  int before_;
};

}  // namespace detail

template <class Function>
class DeviceFunction;

template <class R, class... Args>
class DeviceFunction<R(Args...)> final {
 public:
  using Function = R (*)(Args...);

  // [name] is the operator's name in messages.
  constexpr DeviceFunction(const char* name, Function cpu) : name_(name), cpu_(cpu) {}
  DeviceFunction(const DeviceFunction&) = delete;
  DeviceFunction& operator=(const DeviceFunction&) = delete;

  // Must be called before the first call, while a backend loads.
  void setCuda(Function function) { cuda_ = function; }
  bool hasCuda() const { return cuda_ != nullptr; }

  // Calls the function for [device]'s kind, with [device] as the current device.
  R operator()(Device device, Args... args) const {
    if (!device.is_cuda()) [[likely]]
      return cpu_(static_cast<Args>(args)...);
    BOXCAR_CHECK(cuda_ != nullptr,
                 "{} has no kernel for device '{}'; move its tensors to 'cpu', or run with --cpu-fallback", name_,
                 toString(device));
    const detail::OnCuda on(device);
    return cuda_(static_cast<Args>(args)...);
  }

 private:
  const char* name_;
  Function cpu_;
  Function cuda_ = nullptr;
};

}  // namespace boxcar::native
