#include <boxcar/backends/cuda/available.h>
#include <boxcar/backends/cuda/device.h>
#include <boxcar/backends/cuda/module.h>
#include <boxcar/backends/cuda/ranges.h>
#include <boxcar/backends/cuda/status.h>
#include <boxcar/ivalue/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

namespace boxcar::cuda {
namespace {

struct Devices {
  int count = 0;
  std::string why_none;
};

// Returns why there is no device. If there is no driver at all, the runtime reports it as too old.
std::string reasonOf(const Driver& driver, Status status) {
  if (status == kSuccess) return "no device was found";
  int driver_version = 0;
  int runtime_version = 0;
  if (status != kInsufficientDriver || driver.versions(&driver_version, &runtime_version) != kSuccess)
    return driver.error_text(status);
  if (driver_version == 0) return "no NVIDIA driver is installed";
  return fmt::format("the NVIDIA driver knows CUDA {}, boxcar was built with {}: install a newer driver",
                     versionText(driver_version), versionText(runtime_version));
}

const Devices& devices() {
  static const Devices found = [] {
    Devices result;
    const Module* const module = findModule(result.why_none);
    if (module == nullptr) return result;
    int count = 0;  // cudaGetDeviceCount does not set it on failure
    const Status status = module->driver->device_count(&count);
    if (status == kSuccess) result.count = std::min(count, kMaxDevices);
    if (result.count > 0) nameCallsForTools(*module->driver);
    if (result.count == 0) result.why_none = fmt::format("no device ({})", reasonOf(*module->driver, status));
    return result;
  }();
  return found;
}

}  // namespace

int deviceCount() { return devices().count; }

const std::string& whyNoDevice() { return devices().why_none; }

const DeviceProperties& propertiesOf(int device) {
  static std::mutex mutex;
  static std::array<std::optional<DeviceProperties>, kMaxDevices> known;
  const std::lock_guard lock(mutex);
  std::optional<DeviceProperties>& properties = known.at(static_cast<size_t>(device));
  if (!properties) {
    DeviceProperties read;
    check(driver().properties(device, &read), fmt::format("asking for the properties of cuda:{}", device));
    properties = std::move(read);
  }
  return *properties;
}

int currentDevice() {
  int device = 0;
  check(driver().get_device(&device), "asking for the current device");
  return device;
}

void setCurrentDevice(int device) { check(driver().set_device(device), fmt::format("choosing cuda:{}", device)); }

Device completeDevice(Device device) {
  const int count = deviceCount();
  BOXCAR_CHECK(count > 0, "device '{}': CUDA: {}; use 'cpu'", device, whyNoDevice());
  const int index = device.has_index() ? device.index() : currentDevice();
  BOXCAR_CHECK(index < count, "device '{}': there {} only {} CUDA device{}, so that the last one is 'cuda:{}'", device,
               count == 1 ? "is" : "are", count, count == 1 ? "" : "s", count - 1);
  return Device(DeviceType::CUDA, static_cast<DeviceIndex>(index));
}

DeviceGuard::~DeviceGuard() {
  if (changed_) driver().set_device(before_);
}

}  // namespace boxcar::cuda
