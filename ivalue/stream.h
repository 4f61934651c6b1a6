#pragma once

#include <boxcar/ivalue/device.h>

#include <cstdint>
#include <string>

namespace boxcar {

// A queue of work on a device; [id] is the backend's own number for it; 0 is the device's default stream.
class Stream final {
 public:
  constexpr Stream(Device device, int32_t id) noexcept : device_(device), id_(id) {}

  constexpr Device device() const noexcept { return device_; }
  constexpr int32_t id() const noexcept { return id_; }
  constexpr bool operator==(const Stream&) const noexcept = default;

 private:
  Device device_;
  int32_t id_;
};

BOXCAR_API std::string toString(const Stream& stream);

}  // namespace boxcar
