#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/cuda/caching_allocator.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/stream.h>
#include <boxcar/backends/native/registration.h>
#include <fmt/format.h>

namespace boxcar::cuda {

std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string summary() {
  const int count = deviceCount();
  if (count == 0) return "CUDA: " + whyNoDevice();
  int driver_version = 0;
  int runtime_version = 0;
  driver().versions(&driver_version, &runtime_version);
  std::string devices;
  for (int i = 0; i < count; ++i) {
    const DeviceProperties& properties = propertiesOf(i);
    devices += fmt::format("{}{} ({:.1f} GB)", i == 0 ? "" : ", ", properties.name,
                           static_cast<double>(properties.memory) / 1e9);
  }
  return fmt::format("CUDA {}, driver {}: {}", versionText(runtime_version), versionText(driver_version), devices);
}

bool isAvailable() {
  if (deviceCount() == 0) return false;
  native::registerNativeKernels(DeviceType::CUDA);
  return true;
}

void finishWork() {
  for (int device = 0; device < kMaxDevices; ++device) {
    if (allocatorOf(device).statistics().device_allocations == 0) continue;
    const DeviceGuard on(device);
    synchronizeDevice();
  }
}

}  // namespace boxcar::cuda
