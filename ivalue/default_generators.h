#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar {

// The generators of one kind of device. A backend whose random operators draw from generators of its own registers
// them; the CPU's are those of cpu_generator.h.
struct DeviceGenerators {
  // A new generator of [device].
  Generator (*make)(Device device, uint64_t seed);
  // The one that random operators on [device] draw from when they are given none.
  const Generator& (*default_of)(Device device);
  // Seeds the default generators of all devices of the kind, also of those that are asked for later.
  void (*seed_defaults)(uint64_t seed);
};

// From now on [generators], which must live as long as the program, are those of devices of [type].
BOXCAR_API void setDeviceGenerators(DeviceType type, const DeviceGenerators* generators);

// A generator of its own for [device]; an Error where random operators on it have none.
BOXCAR_API Generator makeGenerator(Device device, uint64_t seed);
// The generator that random operators on [device] draw from when they are given none.
BOXCAR_API const Generator& defaultGenerator(Device device);
// Whether devices of [type] have generators of their own.
BOXCAR_API bool hasGenerators(DeviceType type);
// Seeds the default generators of all devices.
BOXCAR_API void manualSeed(uint64_t seed);

}  // namespace boxcar
