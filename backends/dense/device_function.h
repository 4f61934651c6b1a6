#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>

#include <cstddef>
#include <initializer_list>

// What operators of dense tensors leave to each device. An operator's checks and its result's sizes and dtype are the
// same everywhere and stand in dense/ once; what runs over elements is a function of the device.
//
//   // dense/softmax.h
//   using SoftmaxFunction = void(const Tensor& out, const Tensor& self, const Lines& lines, bool logarithm);
//   extern DeviceFunction<SoftmaxFunction> softmaxLines;
//
//   // cpu/softmax.cpp, the one definition
//   constinit DeviceFunction<SoftmaxFunction> softmaxLines("softmax", cpu::softmaxLines);
//
//   // cuda/softmax.cpp
//   BOXCAR_CUDA_FUNCTION(softmaxLines, softmaxOnDevice)

namespace boxcar::dense {

template <class Function>
class DeviceFunction;

template <class R, class... Args>
class DeviceFunction<R(Args...)> final {
 public:
  using Function = R (*)(Args...);

  // [name] is that of the operator in messages.
  constexpr DeviceFunction(const char* name, Function cpu) : name_(name), functions_{cpu, nullptr} {}
  DeviceFunction(const DeviceFunction&) = delete;
  DeviceFunction& operator=(const DeviceFunction&) = delete;

  // Before the first call: while a backend is loaded.
  void set(DeviceType type, Function function) { functions_[slot(type)] = function; }
  bool has(DeviceType type) const { return functions_[slot(type)] != nullptr; }

  R operator()(DeviceType type, Args... args) const {
    const Function function = functions_[slot(type)];
    BOXCAR_CHECK(function != nullptr,
                 "{} has no kernel for device '{}'; move its tensors to 'cpu', or run with --cpu-fallback", name_,
                 toString(type));
    return function(static_cast<Args>(args)...);
  }

 private:
  static constexpr size_t slot(DeviceType type) { return type == DeviceType::CUDA ? 1 : 0; }

  const char* name_;
  Function functions_[2];
};

}  // namespace boxcar::dense
