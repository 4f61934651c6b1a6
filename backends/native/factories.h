#pragma once

#include <boxcar/backends/native/device_stub.h>
#include <boxcar/ivalue/device.h>

#include <cstddef>

namespace boxcar::native {

// Sets [bytes] bytes of device memory to 0.
using ZeroFunction = void(void* memory, size_t bytes);
extern DeviceStub<ZeroFunction> zeroBytes;

// Returns [device] with its index; "cuda" is the current device. Throws Error if there is no such device. Set by the
// CUDA backend.
using CompleteDevice = Device(Device device);
inline constinit CompleteDevice* completeDevice = nullptr;

}  // namespace boxcar::native
