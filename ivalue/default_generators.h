#pragma once

#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/generator.h>
#include <boxcar/ivalue/macros.h>

#include <cstdint>

namespace boxcar {

// The generators of one kind of device. A backend registers them if its random operators draw from its own generators;
// the CPU's are those of cpu_generator.h.
struct DeviceGenerators {
  // Returns a new generator of [device].
  Generator (*make)(Device device, uint64_t seed);
  // Returns the generator that random operators on [device] draw from when they are given none.
  const Generator& (*default_of)(Device device);
  // Seeds the default generators of all devices of the kind, including those first asked for later.
  void (*seed_defaults)(uint64_t seed);
};

// Registers [generators], which must live as long as the program, for devices of [type].
BOXCAR_API void setDeviceGenerators(DeviceType type, const DeviceGenerators* generators);

// Returns a new generator for [device]; throws Error where random operators on it have none.
BOXCAR_API Generator makeGenerator(Device device, uint64_t seed);
// Returns the generator that random operators on [device] draw from when they are given none.
BOXCAR_API const Generator& defaultGenerator(Device device);
// Returns whether devices of [type] have their own generators.
BOXCAR_API bool hasGenerators(DeviceType type);
// Seeds the default generators of all devices.
BOXCAR_API void manualSeed(uint64_t seed);

}  // namespace boxcar
