#pragma once

#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/rehearsal.h>
#include <boxcar/ops.h>

#include <vector>

#include "tests/backends/tensor_helpers.h"

// Helpers for tests that run on a GPU, or on the simulated one if there is none.

namespace boxcar::cuda {

inline constexpr Device kCuda(DeviceType::CUDA, 0);

inline Tensor onCuda(const Tensor& tensor) { return boxcar::to(tensor, std::nullopt, std::nullopt, kCuda); }
inline Tensor onHost(const Tensor& tensor) {
  return boxcar::to(tensor, std::nullopt, std::nullopt, Device(DeviceType::CPU));
}
// Returns the elements of a float32 tensor on a device.
inline std::vector<float> hostFloats(const Tensor& tensor) { return elements<float>(onHost(tensor)); }

// While it exists, waiting for the device is an error.
using NoWaiting = RehearsalGuard;

}  // namespace boxcar::cuda
