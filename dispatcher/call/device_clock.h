#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/dispatch_key_set.h>
#include <boxcar/ivalue/macros.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace boxcar {

// When a device ran the work of one call, by the device's own clock, in nanoseconds since the clock's origin.
struct DeviceSpan {
  uint32_t number = 0;  // from 1 on
  bool is_known = false;
  Device device = Device(DeviceType::CPU);
  int32_t stream = 0;
  double start = 0;
  double duration = 0;
  // Time in the spans that began in it.
  double children = 0;
};

// Measures how long the calls of one thread take on a device, which runs asynchronously: a profiler marks their
// beginnings and ends in the device's queue, and reads the times when the device has reached them.
class BOXCAR_API DeviceClock {
 public:
  virtual ~DeviceClock() = default;

  // Begins a span on device number [index], within span [outer] unless that is 0. Returns 0 if none can be measured
  // now. Spans end in the reverse order.
  virtual uint32_t begin(DeviceIndex index, uint32_t outer) noexcept = 0;
  virtual void end(uint32_t span) noexcept = 0;

  // Waits for the device, so that all spans that have ended can be found.
  virtual void finish() noexcept = 0;
  // Returns null if the span is not known yet, or no longer: the clock keeps only its capacity.
  virtual const DeviceSpan* find(uint32_t span) const noexcept = 0;
  // The origin of span times, in ticks of detail::TickClock.
  virtual uint64_t origin() const noexcept = 0;
};

namespace detail {

struct DeviceClocks {
  // Calls with any of these keys are measured.
  DispatchKeySet keys;
  // Makes a clock that keeps [capacity] spans, a power of two; null if the device cannot measure.
  std::unique_ptr<DeviceClock> (*make)(size_t capacity) noexcept = nullptr;
};
BOXCAR_API extern constinit DeviceClocks device_clocks;

}  // namespace detail

// Sets the clock of the devices of [backend] while the backend is loaded. There is only one such backend.
BOXCAR_API void setDeviceClock(BackendComponent backend,
                               std::unique_ptr<DeviceClock> (*make)(size_t capacity) noexcept) noexcept;

}  // namespace boxcar
