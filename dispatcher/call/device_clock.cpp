#include <boxcar/dispatcher/call/device_clock.h>

namespace boxcar {

constinit detail::DeviceClocks detail::device_clocks;

void setDeviceClock(BackendComponent backend, std::unique_ptr<DeviceClock> (*make)(size_t capacity) noexcept) noexcept {
  detail::device_clocks = {DispatchKeySet(backend), make};
}

}  // namespace boxcar
