#pragma once

#include <boxcar/ivalue/error.h>
#include <boxcar/ops.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

// Tensors for tests on the make-believe device.

namespace boxcar::cuda {

inline constexpr Device kCuda(DeviceType::CUDA, 0);

inline Tensor onCuda(const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, kCuda); }
inline Tensor onHost(const Tensor& tensor) {
  return boxcar::to(tensor, std::nullopt, std::nullopt, Device(DeviceType::CPU));
}
inline Tensor numbers(std::initializer_list<float> values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor tensor = Tensor::allocate({&count, 1}, ScalarType::Float);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}
inline std::vector<float> elements(const Tensor& tensor) {
  const Tensor host = onHost(tensor);
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

template <class Call>
std::string errorOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace boxcar::cuda
