#pragma once

#include <boxcar/dispatcher/registry/operator_handle.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/stack.h>

#include <cstdint>

namespace boxcar {

// What one call moved between a device and the CPU.
struct RoundTripBytes {
  uint64_t to_cpu = 0;
  uint64_t back = 0;
};

// Runs the CPU kernel of [op] for the arguments on [stack], whose tensors are on one device of [type], and replaces
// them by the results, as cpu_fallback.h describes. If it throws, [stack] and the device's data are unchanged.
RoundTripBytes runOnCpu(const OperatorHandle& op, DeviceType type, Stack& stack);

}  // namespace boxcar
