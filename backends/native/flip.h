#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/tensor.h>

#include <cstdint>
#include <span>

namespace boxcar::native {

// Writes to [result] as many elements as it has, read from [start] on with [steps] in bytes, some of them negative.
using CopyInSteps = void(const Tensor& result, char* start, std::span<const int64_t> steps);
extern DeviceStub<CopyInSteps> copyInSteps;

}  // namespace boxcar::native
