#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>
#include <boxcar/ivalue/tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace boxcar::cuda {

inline constexpr int kMaxDevices = 16;

// Where a device stands in tables of kMaxDevices.
constexpr size_t placeOf(DeviceIndex index) noexcept { return static_cast<uint8_t>(index); }

// How many devices there are; 0 where there is no driver, or boxcar was built without CUDA.
int deviceCount();
// Why there are none, "no device (no CUDA-capable device is detected)", "not built, …"; "" where there are.
const std::string& whyNoDevice();
// Of device number [device], read once.
const DeviceProperties& propertiesOf(int device);

// The device of this thread.
BOXCAR_API int currentDevice();
void setCurrentDevice(int device);

// [device] with its index: that of the current device where it has none. An Error when there is no such device.
Device completeDevice(Device device);

// Makes a tensor's device the current one as long as it lives.
class DeviceGuard final {
 public:
  explicit DeviceGuard(Device device) : DeviceGuard(device.index()) {}
  explicit DeviceGuard(int device) : before_(currentDevice()) {
    if (device != before_) setCurrentDevice(device);
    changed_ = device != before_;
  }
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_;
  bool changed_ = false;
};

}  // namespace boxcar::cuda
