#pragma once

#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/rehearsal.h>
#include <boxcar/ops.h>

#include <vector>

#include "tests/backends/tensor_helpers.h"

// For tests that run on a GPU, and on the make-believe one where there is none.

namespace boxcar::cuda {

inline constexpr Device kCuda(DeviceType::CUDA, 0);

inline Tensor onCuda(const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, kCuda); }
inline Tensor onHost(const Tensor& tensor) {
  return boxcar::to(tensor, std::nullopt, std::nullopt, Device(DeviceType::CPU));
}
// The elements of a tensor of float32 on a device.
inline std::vector<float> hostFloats(const Tensor& tensor) { return elements<float>(onHost(tensor)); }

// Whatever would wait for the device is an error as long as it lives.
using NoWaiting = RehearsalGuard;

}  // namespace boxcar::cuda
