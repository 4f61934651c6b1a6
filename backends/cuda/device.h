#pragma once

#include <boxcar/backends/cuda/driver.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace boxcar::cuda {

inline constexpr int kMaxDevices = 16;

// Returns the position of a device in tables of kMaxDevices.
constexpr size_t placeOf(DeviceIndex index) noexcept { return static_cast<uint8_t>(index); }

// Returns the number of devices; 0 if there is no driver or boxcar was built without CUDA.
int deviceCount();
// Returns why there are no devices, "no device (no CUDA-capable device is detected)", "not built, …"; "" if there are
// any.
const std::string& whyNoDevice();
// Returns the properties of device number [device], which are read once.
const DeviceProperties& propertiesOf(int device);

// Returns the current device of this thread.
BOXCAR_API int currentDevice();
void setCurrentDevice(int device);

// Returns [device] with its index, or with that of the current device if it has none. Throws Error if there is no such
// device.
Device completeDevice(Device device);

// Makes a device, such as a tensor's, the current one during its lifetime.
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
