#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace boxcar {

// When a device did what one call put to it, by the device's own clock. In nanoseconds since the clock's origin.
struct DeviceSpan {
  uint32_t number = 0;  // from 1 on
  bool is_known = false;
  Device device = Device(DeviceType::CPU);
  int32_t stream = 0;
  double start = 0;
  double duration = 0;
  // Of the spans that began in it.
  double children = 0;
};

// Measures what the calls of one thread take a device, which works behind the thread's back: a profiler marks their
// begins and ends in the device's work, and reads the times when the device has come there.
class BOXCAR_API DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  // A span of device number [index], within span [outer] where that is not 0; 0 where none can be measured now. Spans
  // end in the reverse order.
  virtual uint32_t begin(DeviceIndex index, uint32_t outer) noexcept = 0;
  virtual void end(uint32_t span) noexcept = 0;

  // Waits for the device, so that all spans that have ended can be found.
  virtual void finish() noexcept = 0;
  // Null where it is not known yet, or no more: the clock keeps as many as it was made for.
  virtual const DeviceSpan* find(uint32_t span) const noexcept = 0;
  // The moment that spans are counted from, in ticks of detail::TickClock.
  virtual uint64_t origin() const noexcept = 0;
};

namespace detail {

struct DeviceClocks {
  // Calls with any of these keys are measured.
  DispatchKeySet keys;
  // A clock that keeps [capacity] spans, a power of two; null where the device cannot measure.
  std::unique_ptr<DeviceClock> (*make)(size_t capacity) noexcept = nullptr;
};
BOXCAR_API extern constinit DeviceClocks device_clocks;

}  // namespace detail

// The clock of the devices of [backend]; set while the backend is loaded. There is one such backend.
BOXCAR_API void setDeviceClock(BackendComponent backend,
                               std::unique_ptr<DeviceClock> (*make)(size_t capacity) noexcept) noexcept;

}  // namespace boxcar
